import LoaderChain

/// What happened in a test, in order, written down from any thread.
///
/// ```swift
/// let log = EventLog()
/// task.addCompletionHandler { log.note("completed") }
/// await log.reaches(1)
/// #expect(log.events == ["completed"])
/// ```
public final class EventLog: Sendable {
    private let state = Guarded(State())

    /// Makes an empty log.
    public init() {}

    /// Everything noted so far.
    public var events: [String] { state.withLock { $0.events } }

    /// Notes an event.
    public func note(_ event: String) {
        let reached = state.withLock { $0.note(event) }
        for continuation in reached { continuation.resume() }
    }

    /// Waits until so many events have been noted in all.
    public func reaches(_ count: Int) async {
        await withUnsafeContinuation { continuation in
            let isReached = state.withLock { $0.isReached(count, or: continuation) }
            if isReached { continuation.resume() }
        }
    }

    private struct State {
        var events: [String] = []
        private var waiting: [(count: Int, continuation: UnsafeContinuation<Void, Never>)] = []

        mutating func note(_ event: String) -> [UnsafeContinuation<Void, Never>] {
            events.append(event)
            let reached = waiting.filter { $0.count <= events.count }
            waiting.removeAll { $0.count <= events.count }
            return reached.map(\.continuation)
        }

        mutating func isReached(_ count: Int, or continuation: UnsafeContinuation<Void, Never>) -> Bool {
            if events.count >= count { return true }
            waiting.append((count, continuation))
            return false
        }
    }
}
