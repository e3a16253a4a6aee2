import LoaderChain

/// A log of the events in a test, in order, written from any thread.
///
/// ```swift
/// let log = EventLog()
/// task.addCompletionHandler { log.note("completed") }
/// await log.reaches(1)
/// #expect(log.events == ["completed"])
/// ```
public final class EventLog: Sendable {
    private let state = Locked(State())

    /// Makes an empty log.
    public init() {}

    /// Everything noted so far.
    public var events: [String] { state.withLock { $0.events } }

    /// Notes an event.
    public func note(_ event: String) {
        let reached = state.withLock { $0.note(event) }
        for continuation in reached { continuation.resume() }
    }

    /// Waits until `count` events have been noted in all, or until the waiting Swift task is cancelled, for example by the
    /// time limit of a test.
    public func reaches(_ count: Int) async {
        let id = state.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let waits = state.withLock { $0.wait(for: count, as: id, continuation) }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.leave(id) }?.resume()
        }
    }

    private struct State {
        private(set) var events: [String] = []
        private var waiting: [Int: (count: Int, continuation: UnsafeContinuation<Void, Never>)] = [:]
        /// The waits that were cancelled before they began.
        private var cancelled: Set<Int> = []
        private var lastID = 0

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }

        mutating func note(_ event: String) -> [UnsafeContinuation<Void, Never>] {
            events.append(event)
            let reached = waiting.filter { $0.value.count <= events.count }
            for id in reached.keys { waiting[id] = nil }
            return reached.sorted { $0.key < $1.key }.map(\.value.continuation)
        }

        mutating func wait(for count: Int, as id: Int, _ continuation: UnsafeContinuation<Void, Never>) -> Bool {
            guard events.count < count, cancelled.remove(id) == nil else { return false }
            waiting[id] = (count, continuation)
            return true
        }

        /// Ends a wait; returns its continuation if it has begun.
        mutating func leave(_ id: Int) -> UnsafeContinuation<Void, Never>? {
            if let left = waiting.removeValue(forKey: id) { return left.continuation }
            cancelled.insert(id)
            return nil
        }
    }
}
