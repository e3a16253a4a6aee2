import LoaderChain

/// Takes in what earlier launches left.
extension BoxState {
    /// Takes in the reports of a directory, which come in the order of their submission.
    ///
    /// A report dated in the future counts as new, and so does one of an unbelievable age. What is due later waits, but
    /// no longer than any wait of these settings can be.
    ///
    /// Of two reports of an identifier, the newer one is taken: the older one had left when it was submitted, and its file could not be
    /// removed.
    ///
    /// - Returns: those whose identifier a newer one has.
    mutating func load(_ names: [RecordName], wallNow: Int64, now: TimerInstant) -> [RecordName] {
        reserveCapacity(names.count)
        var newest: [ReportID: Int] = [:]
        newest.reserveCapacity(names.count)
        for index in names.indices { newest[names[index].id] = index }
        var duplicates: [RecordName] = []
        for (index, name) in names.enumerated() {
            nextSequence = max(nextSequence, name.sequence + 1)
            if newest[name.id] == index { take(name, wallNow: wallNow, now: now) } else { duplicates.append(name) }
        }
        return duplicates
    }

    /// Whether a report that was set aside is in the box all the same: it has come back, and is not two.
    func holds(_ name: RecordName) -> Bool {
        guard let handle = handle(of: name.id), let entry = self[handle] else { return false }
        return entry.name.size == name.size
    }

    @discardableResult
    mutating func take(_ name: RecordName, wallNow: Int64, now: TimerInstant) -> BoxHandle {
        let age = BelievableAge.of(
            .milliseconds(wallNow - name.submittedMilliseconds), limit: settings.maximumAge)
        let isPaused = name.flags.contains(.pausesDestination)
        let longest = isPaused ? pacing.maximumAsked : pacing.maximum
        let left = min(max(.zero, .milliseconds(name.dueMilliseconds - wallNow)), longest)
        // One that was never tried is due at once, whatever the clock showed when it came, unless its server asked for a wait.
        let delay: Duration = name.attempts == 0 && !isPaused ? .zero : left
        let handle = insert(
            BoxEntry(
                name: name, phase: .waiting, born: now.advanced(by: .zero - age),
                due: now.advanced(by: delay),
                wasFound: true))
        if isPaused, delay > .zero {
            withLane(of: name.destination) { $0.pausedUntil = max($0.pausedUntil, now.advanced(by: delay)) }
        }
        wait(handle)
        return handle
    }
}
