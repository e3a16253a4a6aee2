import Synchronization

/// What the objects that stand for one task share: its state, behind one lock.
///
/// A caller holds one `HTTPTask` and another travels down the chain, so that a caller who keeps the task does not keep the
/// chain from being seen to have let go of it. Both refer to one core, and so does whatever keeps a task in mind without
/// being responsible for it.
final class TaskCore: Sendable {
    /// What the task's id is made of; it rises from task to task in the order in which they are made.
    let number: UInt64
    /// The task that this one works for.
    let parent: TaskCore?
    /// Whether an observer hears of waits, here or of the task that this one works for; without one, a wait costs a look at
    /// this byte.
    let isMetered: Atomic<Bool>
    private let holder = Atomic(0)
    private let state: InPlaceLocked<State>

    typealias Flags = InPlaceLocked<State>.Flags

    /// What many threads share of a task.
    struct State: Sendable {
        var life = TaskLife()
        var request: HTTPRequest
        var attempts = AttemptList()
    }

    init(_ request: HTTPRequest, worksFor parent: TaskCore? = nil) {
        number = TaskIdentity.next()
        self.parent = parent
        isMetered = Atomic(parent?.isMetered.load(ordering: .acquiring) ?? false)
        state = InPlaceLocked(State(request: request))
    }

    /// Runs `body` alone with the state, and with what can be known of it without the lock.
    ///
    /// The body calls nothing that a user wrote, and lets go of nothing that may be a user's last reference.
    @inline(__always)
    func withState<Result: Sendable>(_ body: (inout State, inout Flags) -> Result) -> Result {
        state.withLock(body)
    }

    /// What can be known of the task without its lock.
    var flags: Flags {
        @inline(__always) get { state.flags }
    }

    /// The number of the name of the loader that has the task; zero before there is one.
    ///
    /// Relaxed, because nothing else depends on it.
    var holderNumber: Int { holder.load(ordering: .relaxed) }

    @inline(__always)
    func noteHolder(_ number: Int) { holder.store(number, ordering: .relaxed) }

    /// Takes an attempt that has ended off the list; it is let go of after the lock is open.
    func forget(_ attempt: TaskCore) {
        _ = withState { state, _ in state.attempts.remove(attempt) }
    }

    /// Cancels the attempts that are under way, the oldest first.
    @inline(never)
    func cancelAttempts() {
        let attempts = withState { state, _ in state.attempts.all }
        for attempt in attempts.sorted(by: { $0.number < $1.number }) { HTTPTask(for: attempt).cancel() }
    }
}

extension TaskCore.Flags {
    static var cancelled: Self { Self(rawValue: 1) }
    static var completed: Self { Self(rawValue: 2) }
}
