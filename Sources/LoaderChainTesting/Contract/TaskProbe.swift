import LoaderChain

/// Observes the completion of one task.
final class TaskProbe: @unchecked Sendable {
    private let patience: @Sendable () -> Duration
    private let state = Locked(State())
    /// The task that `load` returned to the caller.
    var task: WeakReference?

    /// Makes a probe; `patience` returns how long it waits.
    init(patience: @escaping @Sendable () -> Duration) { self.patience = patience }

    /// How often the completion was called.
    var completions: Int { state.withLock { $0.completions } }

    /// Whether the completion was called, or awaited in vain.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Cancels the task.
    func cancel() { (task?.object as? HTTPTask)?.cancel() }

    /// Notes that the completion was called.
    func complete(_ result: HTTPResult?) {
        for continuation in state.withLock({ $0.complete(result) }) { continuation.resume() }
    }

    /// Awaits the result; nil if there is none in time.
    func result() async -> HTTPResult? {
        await isOver() ? state.withLock { $0.result } : nil
    }

    /// Whether the completion was called, after waiting for it.
    func isOver() async -> Bool {
        // A timer that is removed as soon as it is cancelled: there may be a great many.
        let watchdog = SystemTimers.shared.schedule(after: patience()) { [weak self] in self?.giveUp() }
        defer { watchdog.cancel() }
        await withUnsafeContinuation { continuation in
            let hasEnded = state.withLock { $0.hasEnded(or: continuation) }
            if hasEnded { continuation.resume() }
        }
        return completions > 0
    }

    private func giveUp() {
        for continuation in state.withLock({ $0.end() }) { continuation.resume() }
    }

    private struct State {
        private(set) var completions = 0
        private(set) var result: HTTPResult?
        private(set) var hasEnded = false
        private var waiting: [UnsafeContinuation<Void, Never>] = []

        mutating func complete(_ result: HTTPResult?) -> [UnsafeContinuation<Void, Never>] {
            completions += 1
            if completions == 1 { self.result = result }
            return end()
        }

        mutating func hasEnded(or continuation: UnsafeContinuation<Void, Never>) -> Bool {
            if !hasEnded { waiting.append(continuation) }
            return hasEnded
        }

        mutating func end() -> [UnsafeContinuation<Void, Never>] {
            hasEnded = true
            return replace(&waiting, with: [])
        }
    }
}
