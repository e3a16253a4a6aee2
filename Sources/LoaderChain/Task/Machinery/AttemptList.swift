/// The attempts that work for a task at the moment.
///
/// They are held until they have ended, which is no cycle for ever: what can be abandoned is the object that travels for
/// an attempt, and its end is the attempt's.
struct AttemptList: Sendable {
    // The usual one attempt needs no dictionary.
    private var first: TaskCore?
    private var others: [UInt64: TaskCore] = [:]

    var isEmpty: Bool {
        @inline(__always) get { first == nil && others.isEmpty }
    }

    mutating func add(_ attempt: TaskCore) {
        if first == nil { first = attempt } else { others[attempt.number] = attempt }
    }

    /// Takes an attempt off the list, and returns it, so that the last reference is not let go of under a lock.
    mutating func remove(_ attempt: TaskCore) -> TaskCore? {
        if first === attempt { return first.take() }
        return others.isEmpty ? nil : others.removeValue(forKey: attempt.number)
    }

    /// All of them, in an array of its own: a dictionary that left the lock would be copied by the next change.
    var all: [TaskCore] {
        guard !others.isEmpty else { return first.map { [$0] } ?? [] }
        return Array(others.values) + [first].compactMap(\.self)
    }
}
