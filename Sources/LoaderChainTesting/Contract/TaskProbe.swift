import LoaderChain

/// Observes the completion of one task, or of something else that ends once.
final class TaskProbe: @unchecked Sendable {
    /// What the task asks for, which tells its request from those of others.
    let path: String
    private let signal: ContractSignal
    private let state = Locked(State())
    /// The task that `load` returned to the caller; set by the thread that loads it.
    var task: WeakReference?

    private struct State {
        var completions = 0
        var result: HTTPResult?
    }

    init(_ path: String, _ signal: ContractSignal) {
        self.path = path
        self.signal = signal
    }

    /// How often the completion was called.
    var completions: Int { state.withLock { $0.completions } }

    /// Whether the completion was called.
    var hasEnded: Bool { completions > 0 }

    var result: HTTPResult? { state.withLock { $0.result } }

    /// Cancels the task, and returns whether that came before its result.
    @discardableResult
    func cancel() -> Bool { (task?.object as? HTTPTask)?.cancel() ?? false }

    /// Notes that the completion was called.
    func complete(_ result: HTTPResult? = nil) {
        state.withLock { state in
            state.completions += 1
            if state.completions == 1 { state.result = result }
        }
        signal.raise()
    }
}

final class WeakReference: @unchecked Sendable {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}
