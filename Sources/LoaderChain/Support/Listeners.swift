/// The listeners to the events of one source: a closure, and any number of streams.
///
/// A stream keeps a number of events for a listener that is slower than the source, and then loses the oldest. The first stream
/// begins before a listener asks for it, so that its listener gets what happened while the source was being opened.
///
/// The events may also be the values of a level, of which only the newest matters: then each stream begins with that.
package final class Listeners<Event: Sendable>: Sendable {
    private typealias Continuation = AsyncStream<Event>.Continuation

    private struct State {
        var continuations: [Int: Continuation]
        var unclaimed: AsyncStream<Event>?
        /// The newest value of a level.
        var level: Event?
        var lastNumber = 0
        var hasEnded = false
    }

    package static var mostKept: Int { 1_000 }

    private let state: Locked<State>
    private let closure: (@Sendable (Event) -> Void)?

    /// Makes the listeners; `closure` is called with each event at once, on any thread and under no lock.
    package init(_ closure: (@Sendable (Event) -> Void)?) {
        self.closure = closure
        let (stream, continuation) = Self.makeStream()
        state = Locked(State(continuations: [0: continuation], unclaimed: stream))
    }

    /// Makes the listeners to a level; one thread at a time may send it.
    package init(latest level: Event) {
        closure = nil
        state = Locked(State(continuations: [:], level: level))
    }

    private static func makeStream(keeping count: Int = mostKept) -> (AsyncStream<Event>, Continuation) {
        AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(count))
    }

    /// How many streams there are, the first among them even if no listener has it.
    var count: Int { state.withLock { $0.continuations.count } }

    package func tell(_ event: Event) {
        let continuations = state.withLock { state in
            if state.level != nil { state.level = event }
            return Array(state.continuations.values)
        }
        for continuation in continuations { continuation.yield(event) }
        closure?(event)
    }

    /// Returns a stream for another listener, which ends with the source.
    package func stream() -> AsyncStream<Event> {
        let isOfLevel = state.withLock { $0.level != nil }
        let (newStream, newContinuation) = Self.makeStream(keeping: isOfLevel ? 1 : Self.mostKept)
        let (number, stream, continuation) = state.withLock { state -> (Int, AsyncStream<Event>, Continuation?) in
            if let unclaimed = replace(&state.unclaimed, with: nil) { return (0, unclaimed, state.continuations[0]) }
            // Under the lock, so that a newer value cannot come before it; the stream has no reader yet.
            if let level = state.level { newContinuation.yield(level) }
            guard !state.hasEnded else { return (0, newStream, nil) }
            state.lastNumber += 1
            state.continuations[state.lastNumber] = newContinuation
            return (state.lastNumber, newStream, newContinuation)
        }
        guard let continuation else {
            newContinuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    /// Ends all streams; the events that they keep are still delivered.
    package func end() {
        let ended = state.withLock { state in
            state.hasEnded = true
            return Array(replace(&state.continuations, with: [:]).values)
        }
        for continuation in ended { continuation.finish() }
    }
}
