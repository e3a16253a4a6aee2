/// The attempts that work for a task at the moment.
///
/// They are held until they have ended, which is no cycle for ever: what can be abandoned is the object that travels for
/// an attempt, and its end is the attempt's.
struct AttemptList {
    // The usual one attempt needs no array.
    private var first: HTTPTask?
    private var others: [HTTPTask]?

    var isEmpty: Bool {
        @inline(__always) get { first == nil && others?.isEmpty ?? true }
    }

    mutating func add(_ attempt: HTTPTask) {
        if first == nil { first = attempt } else { others = (others ?? []) + [attempt] }
    }

    /// Takes an attempt off the list, and returns it, so that the last reference is not let go of under a lock.
    mutating func remove(_ attempt: HTTPTask) -> HTTPTask? {
        if first === attempt { return first.take() }
        return others?.firstIndex { $0 === attempt }.flatMap { others?.remove(at: $0) }
    }

    func cancel() {
        first?.cancel()
        for attempt in others ?? [] { attempt.cancel() }
    }
}
