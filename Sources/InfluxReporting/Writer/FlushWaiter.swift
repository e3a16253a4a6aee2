import LoaderChain

/// A waiting flush, with the timer that ends the wait.
final class FlushWaiter: Sendable {
    private struct State {
        var continuation: CheckedContinuation<FlushReport, Never>?
        var timer: (any ScheduledTimer)?
    }

    private let state: Locked<State>

    init(_ continuation: CheckedContinuation<FlushReport, Never>) {
        state = Locked(State(continuation: continuation))
    }

    /// Keeps the timer, unless the waiting is over.
    func keep(_ timer: any ScheduledTimer) {
        let isOver = state.withLock { state in
            if state.continuation != nil { state.timer = timer }
            return state.continuation == nil
        }
        if isOver { timer.cancel() }
    }

    func end(with report: FlushReport) {
        let (continuation, timer) = state.withLock {
            (replace(&$0.continuation, with: nil), replace(&$0.timer, with: nil))
        }
        timer?.cancel()
        continuation?.resume(returning: report)
    }
}
