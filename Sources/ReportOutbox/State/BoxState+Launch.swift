import LoaderChain

/// Takes in what earlier launches left.
extension BoxState {
    /// A wall clock that says more than this about a report's age is wrong, rather than the report old.
    private static let longestBelievableAge = Duration.seconds(60 * 24 * 3600)

    /// Takes in the reports of a directory, which come in the order of their submission.
    ///
    /// A report dated in the future counts as new, and so does one of an unbelievable age. What is due later waits, but
    /// no longer than any wait of these settings can be.
    ///
    /// - Returns: those whose identifier an older one has already.
    mutating func load(_ names: [RecordName], wallNow: Int64, now: TimerInstant) -> [RecordName] {
        reserveCapacity(names.count)
        var duplicates: [RecordName] = []
        for name in names {
            nextSequence = max(nextSequence, name.sequence + 1)
            guard handle(of: name.id) == nil else {
                duplicates.append(name)
                continue
            }
            take(name, wallNow: wallNow, now: now)
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
        // Twice the settings' age, without a sum that might overflow.
        let limit = max(Self.longestBelievableAge / 2, settings.maximumAge)
        let age = Duration.milliseconds(wallNow - name.submittedMilliseconds)
        let isBelievable = age >= .zero && age / 2 <= limit
        let isPaused = name.flags.contains(.pausesDestination)
        let longest = isPaused ? pacing.maximumAsked : pacing.maximum
        // One that was never tried is due at once, whatever the clock showed when it came.
        let delay: Duration =
            name.attempts == 0 ? .zero : min(max(.zero, .milliseconds(name.dueMilliseconds - wallNow)), longest)
        let handle = insert(
            BoxEntry(
                name: name, phase: .waiting, born: now.advanced(by: isBelievable ? .zero - age : .zero),
                due: now.advanced(by: delay),
                wasFound: true))
        if isPaused, delay > .zero {
            withLane(of: name.destination) { $0.pausedUntil = max($0.pausedUntil, now.advanced(by: delay)) }
        }
        wait(handle)
        return handle
    }
}
