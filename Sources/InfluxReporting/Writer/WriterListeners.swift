import LoaderChain

/// Who hears of a writer's events: a closure, and any number of streams.
final class WriterListeners: Sendable {
    static let mostKept = 1_000

    private struct State {
        var continuations: [Int: AsyncStream<WriterEvent>.Continuation] = [:]
        /// What happened before anybody listened, so that whoever opens a writer hears what it found.
        var early: [WriterEvent]? = []
        var lastNumber = 0
        var hasEnded = false
    }

    private let state = Guarded(State())
    private let closure: (@Sendable (WriterEvent) -> Void)?

    init(_ closure: (@Sendable (WriterEvent) -> Void)?) { self.closure = closure }

    /// Tells everybody, under no lock.
    func tell(_ event: WriterEvent) {
        let listeners = state.withLock { state in
            if let early = state.early, early.count < Self.mostKept { state.early?.append(event) }
            return Array(state.continuations.values)
        }
        closure?(event)
        for listener in listeners { listener.yield(event) }
    }

    func stream() -> AsyncStream<WriterEvent> {
        let (stream, continuation) = AsyncStream<WriterEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.mostKept))
        let (number, early, hasEnded) = state.withLock { state in
            state.lastNumber += 1
            if !state.hasEnded { state.continuations[state.lastNumber] = continuation }
            return (state.lastNumber, exchange(&state.early, with: nil), state.hasEnded)
        }
        for event in early ?? [] { continuation.yield(event) }
        if hasEnded { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            return Array(exchange(&state.continuations, with: [:]).values)
        }
        for listener in listeners { listener.finish() }
    }
}
