/// Taking up what earlier launches left.
extension BoxState {
    /// A wall clock that says more than this about a report's age is wrong, rather than the report old.
    private static let longestBelievableAge: Int64 = 60 * 24 * 3600 * 1000

    /// Takes in the reports of a directory, which come in the order of their submission.
    ///
    /// A report dated in the future counts as new, and so does one whose age nobody would believe. What is due later waits, but
    /// no longer than any wait of this policy can be.
    ///
    /// - Returns: those whose identifier an older one has already.
    mutating func load(_ names: [RecordName], wallNow: Int64, now: Int64) -> [RecordName] {
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
    mutating func take(_ name: RecordName, wallNow: Int64, now: Int64) -> BoxHandle {
        let limit = max(
            Self.longestBelievableAge, policy.maximumAge.milliseconds.addingClamped(policy.maximumAge.milliseconds))
        let age = wallNow - name.submittedMilliseconds
        let isPaused = name.flags.contains(.pausesDestination)
        let longest = isPaused ? timing.longestAsked : timing.longest
        // One that was never tried waits for nothing, whatever the clock showed when it came.
        let delay = name.attempts == 0 ? 0 : min(max(0, name.dueMilliseconds - wallNow), longest)
        let handle = insert(
            BoxEntry(
                name: name, phase: .waiting, born: now - (0...limit ~= age ? age : 0), due: now.addingClamped(delay),
                wasFound: true))
        if isPaused, delay > 0 {
            withLane(of: name.destination) { $0.pausedUntil = max($0.pausedUntil, now.addingClamped(delay)) }
        }
        wait(handle)
        return handle
    }
}
