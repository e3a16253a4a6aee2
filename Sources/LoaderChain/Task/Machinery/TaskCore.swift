import Synchronization

/// What all handles of one task share: its state, behind one lock.
///
/// The caller holds one `HTTPTask` and another one goes down the chain, so that a caller that keeps its handle does not
/// hide that the chain has let go of the task. Both refer to one core, as does anything that remembers a task without
/// being responsible for it.
final class TaskCore: Sendable {
    /// The number that the task's id is made of; it rises in the order in which tasks are made.
    let number: UInt64
    /// The task that this attempt works for.
    let parent: TaskCore?
    /// Whether an observer hears of waits, of this task or of one that it works for; without one, a wait costs a read
    /// of this byte.
    let observesWaits: Atomic<Bool>
    private let holder = Atomic(0)
    private let state: InPlaceLocked<State>

    typealias Flags = InPlaceLocked<State>.Flags

    /// What threads share of a task.
    struct State: Sendable {
        var life = TaskLife()
        var request: HTTPRequest
        var attempts = AttemptList()
        /// The waits that are not over, each with the observers that have heard of its beginning.
        var waits: [[ObjectIdentifier]] = []
        /// What ends the task at its deadline.
        var deadlineTimer: (any ScheduledTimer)?
    }

    init(_ request: HTTPRequest, worksFor parent: TaskCore? = nil) {
        let request = parent == nil && TraceCapture.isOn ? request.withCurrentTrace : request
        number = TaskIdentity.next()
        self.parent = parent
        observesWaits = Atomic(parent?.observesWaits.load(ordering: .acquiring) ?? false)
        let hasDeadline = request.namesDeadline || parent?.flags.contains(.hasDeadline) ?? false
        state = InPlaceLocked(State(request: request), hasDeadline ? .hasDeadline : [])
        if hasDeadline { beginDeadline() }
    }

    /// Runs `body` with exclusive access to the state and to the flags that can be read without the lock.
    ///
    /// The body calls no user code, and releases nothing that may be the last reference to a user's object.
    @inline(__always)
    func withState<Result: Sendable>(_ body: (inout State, inout Flags) -> Result) -> Result {
        state.withLock(body)
    }

    /// The flags, read without the lock.
    var flags: Flags {
        @inline(__always) get { state.flags }
    }

    /// The number of the name of the loader that has the task; zero before there is one.
    ///
    /// Relaxed, because nothing else depends on it.
    var holderNumber: Int { holder.load(ordering: .relaxed) }

    @inline(__always)
    func noteHolder(_ number: Int) { holder.store(number, ordering: .relaxed) }

    /// Removes an attempt that has ended from the list, and releases it outside the lock.
    func forget(_ attempt: TaskCore) {
        _ = withState { state, _ in state.attempts.remove(attempt) }
    }

    /// Cancels the attempts that are under way, oldest first.
    @inline(never)
    func cancelAttempts() {
        let attempts = withState { state, _ in state.attempts.all }
        let isExpired = flags.contains(.expired)
        for attempt in attempts.sorted(by: { $0.number < $1.number }) {
            HTTPTask(for: attempt).stop(atDeadline: isExpired)
        }
    }
}

extension TaskCore.Flags {
    static var cancelled: Self { Self(rawValue: 1) }
    static var completed: Self { Self(rawValue: 2) }
    /// The cancel came from the deadline.
    static var expired: Self { Self(rawValue: 4) }
    static var hasDeadline: Self { Self(rawValue: 8) }
    /// The head of a response has arrived, of this task or of one that works for it.
    static var answered: Self { Self(rawValue: 16) }

    /// Whether there is neither a cancel nor a result.
    var isOpen: Bool { isDisjoint(with: [.cancelled, .completed]) }
}
