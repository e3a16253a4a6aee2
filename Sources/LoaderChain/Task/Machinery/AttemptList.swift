/// The attempts of a task that are under way.
///
/// They are held until they end. That cycle always breaks: the handle that goes down the chain for an attempt is not
/// held here, and when the chain lets go of it, the attempt ends.
struct AttemptList: Sendable {
    // A task usually has one attempt, which needs no dictionary.
    private var first: TaskCore?
    private var others: [UInt64: TaskCore] = [:]

    var isEmpty: Bool {
        @inline(__always) get { first == nil && others.isEmpty }
    }

    mutating func add(_ attempt: TaskCore) {
        if first == nil { first = attempt } else { others[attempt.number] = attempt }
    }

    /// Removes an attempt and returns it, so that its last reference is not released under a lock.
    mutating func remove(_ attempt: TaskCore) -> TaskCore? {
        if first === attempt { return first.take() }
        return others.isEmpty ? nil : others.removeValue(forKey: attempt.number)
    }

    /// All attempts, in a new array: a dictionary that left the lock would be copied by the next change.
    var all: [TaskCore] {
        guard !others.isEmpty else { return first.map { [$0] } ?? [] }
        return Array(others.values) + [first].compactMap(\.self)
    }
}
