import Dispatch
import Synchronization

/// Limits how many tasks run at once; the others wait for their turn.
///
/// **What it is for.** An app that asks for more than its server can give makes the server slower, and so asks for even
/// more. A throttle bounds what is under way, and can be turned down, or shut, while the app runs:
///
/// ```swift
/// let throttle = Throttle(maximumNumberOfRequests: 6, perHost: 4)
/// let chain = throttle --> terminal
///
/// throttle.maximumNumberOfRequests = 1  // The server asked for mercy.
/// throttle.maximumNumberOfRequests = 0  // Nothing is sent any more; what runs comes to its end.
/// throttle.maximumNumberOfRequests = 6  // The waiting go on at once.
/// ```
///
/// **Where it belongs.** Above the loader that retries, so that a task keeps its slot from the first attempt to the last:
/// when a server struggles, the retries then slow down the newcomers and do not come on top of them. Below loaders that
/// answer without sending anything, whose tasks need no slot. If it limits hosts, below the loader that fills in the host,
/// because it counts what it sees.
///
/// **The order.** First come, first served among tasks of one ``ThrottlePriority``. No newcomer starts while a waiter could
/// run; only a waiter whose host is busy is passed by those of other hosts. A request with `throttle` set to
/// ``ThrottleOption/never`` goes straight through and is not counted.
///
/// **How waiting ends.** With a slot; or with the task's cancel, at once; or, where the throttle was made so, at a deadline
/// with ``HTTPError/Code/queueTimedOut``. Where too many wait already, a task fails on arrival with
/// ``HTTPError/Code/queueFull``. A reset ends the waiting with ``HTTPError/Code/resetInProgress``, and then waits for the
/// tasks that run.
///
/// **What it costs.** A task that starts at once costs no allocation unless hosts are limited; one that waits costs one, and
/// the same time in a queue of ten as in one of a million. A deadline adds a timer for each task that waits.
public final class Throttle: HTTPLoader, HTTPTaskObserver, @unchecked Sendable {
    /// How many tasks may wait; nil for as many as come.
    public let maximumWaiting: Int?
    /// How long a task may wait; nil for as long as it takes.
    public let deadline: Duration?
    private let timers: any Timers
    private let state: Guarded<ThrottleState>
    /// Whether the last task had to wait and no slot has been left free since: then the next one will wait too.
    ///
    /// It only spares a task that will wait the attempt to start at once.
    private let isFull = Atomic(false)

    /// Makes a throttle.
    ///
    /// - Parameters:
    ///   - maximumNumberOfRequests: how many tasks may run at once; by default as many as come.
    ///   - perHost: how many of them may be for one host, so that a slow one cannot take every slot. `.max` only counts
    ///     them, for ``snapshot``; nil, the default, does not look at hosts at all.
    ///   - maximumWaiting: how many tasks may wait; one more fails at once. By default as many as come.
    ///   - deadline: how long a task may wait; then it fails. By default as long as it takes.
    ///   - timers: what tells when a deadline has come.
    public init(
        maximumNumberOfRequests: UInt = .max, perHost: UInt? = nil, maximumWaiting: Int? = nil,
        deadline: Duration? = nil, timers: any Timers = SystemTimers.shared
    ) {
        self.maximumWaiting = maximumWaiting
        self.deadline = deadline
        self.timers = timers
        state = Guarded(
            ThrottleState(limit: maximumNumberOfRequests, perHost: perHost, mostWaiting: maximumWaiting ?? .max))
    }

    deinit {
        // Nobody can start them any more, so nobody but their callers may hold them.
        var waiters = state.withLock { $0.removeAll() }
        while let waiter = waiters.popFirst() { _ = waiter.takeRetainedValue().takeTask() }
    }

    // MARK: Limits

    /// How many tasks may run at once; any thread may change it at any time.
    ///
    /// Raising it starts waiting tasks before this returns. Lowering it stops none that runs. 0 is a pause.
    public var maximumNumberOfRequests: UInt {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = newValue }
            startWaiters()
        }
    }

    /// How many tasks of one host may run at once, or nil; any thread may change it at any time.
    ///
    /// Tasks that run already when it is set for the first time count for no host.
    public var perHost: UInt? {
        get { state.withLock { $0.perHost } }
        set {
            state.withLock { $0.setPerHost(newValue) }
            startWaiters()
        }
    }

    /// How many tasks run and wait at the moment, in all and per host.
    public var snapshot: Snapshot {
        state.withLock { $0.snapshot }
    }

    /// The limits, and how many run and wait.
    public override var details: String {
        let (limit, perHost, running, waiting) = state.withLock { ($0.limit, $0.perHost, $0.running, $0.waiting) }
        var text = limit == .max ? "no limit" : "limit \(limit)"
        if let perHost, perHost != .max { text += ", per host \(perHost)" }
        return text + ", running \(running), waiting \(waiting)"
    }

    // MARK: As a loader

    /// Passes the task on, or lets it wait.
    public override func load(task: HTTPTask) {
        guard task.option(ThrottleOption.self) == .always else { return super.load(task: task) }
        guard !isFull.load(ordering: .relaxed), state.withLock({ $0.start(task.number) }) else {
            return receive(task)
        }
        task.addObserver(self)
        super.load(task: task)
    }

    /// Ends the waiting, and finishes when the tasks have ended that ran when it began.
    public override func reset(with group: DispatchGroup) {
        group.enter()
        defer { group.leave() }
        // A second time, for the tasks that run: their end may come before that of the waiting.
        group.enter()
        // Drawn under the lock, so that it is higher than the number of any task that was let through before.
        var (waiters, isFinished) = state.withLock { $0.reset(TaskIdentity.next(), group) }
        while let waiter = waiters.popFirst() {
            if let task = waiter.takeRetainedValue().takeTask() {
                fail(task, .resetInProgress, reason: "It was waiting for its turn when the chain was reset")
            }
        }
        if isFinished { group.leave() }
        super.reset(with: group)
    }

    @inline(never)
    private func receive(_ task: HTTPTask) {
        let link = WaiterList.Link.passRetained(ThrottleWaiter(task, isMeasured: task.beginWait(), in: state))
        // It listens before others can see it, so that loaders below are always told before it.
        link._withUnsafeGuaranteedRef { task.addObserver($0) }
        // Once it is in a list it may be over at any time.
        let timed = deadline == nil ? nil : link.takeUnretainedValue()
        let arrival = state.withLock { state in
            let arrival = state.arrive(link)
            if arrival == .starts { link._withUnsafeGuaranteedRef { $0.hold(self) } }
            return arrival
        }
        switch arrival {
        case .starts:
            start(link)
        case .waits:
            if !isFull.load(ordering: .relaxed) { isFull.store(true, ordering: .relaxed) }
            if let timed, let deadline { timed.wait(noLongerThan: deadline, by: timers) }
        case .isRefused:
            _ = link.takeRetainedValue().takeTask()
            fail(task, .queueFull, reason: "As many as \(maximumWaiting ?? 0) tasks may wait, and they do already")
        case .isOver:
            _ = link.takeRetainedValue().takeTask()
            // Either it was completed, and this does nothing, or it was cancelled.
            fail(task, .cancelled)
        }
    }

    // MARK: Starting the waiting

    @inline(__always)
    private func start(_ link: WaiterList.Link) {
        let task = link._withUnsafeGuaranteedRef { $0.takeTask() }
        link.release()
        if let task { super.load(task: task) }
    }

    /// Starts one waiter after the other for as long as there is room.
    private func startWaiters() {
        while let link = nextWaiter() { start(link) }
        isFull.store(false, ordering: .relaxed)
    }

    private func nextWaiter() -> WaiterList.Link? {
        state.withLock { state in
            let link = state.next()
            link?._withUnsafeGuaranteedRef { $0.hold(self) }
            return link
        }
    }

    /// Does what the end of a task has led to.
    @inline(__always)
    func carryOut(_ end: ThrottleState.End) {
        if let resets = end.resets { finish(resets) }
        if let next = end.next {
            start(next)
        } else if isFull.load(ordering: .relaxed) {
            isFull.store(false, ordering: .relaxed)
        }
    }

    @inline(never)
    private func finish(_ resets: [DispatchGroup]) {
        for group in resets { group.leave() }
    }

    /// Gives a slot to the next in line; the throttle hears here of tasks that it let through at once.
    public func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        let end = state.withLock { state in
            let end = state.finish(task.number)
            end.starts(in: self)
            return end
        }
        carryOut(end)
    }
}

extension HTTPError.Code {
    /// As many tasks as are allowed to wait in a ``Throttle`` were waiting already; nothing was sent.
    public static let queueFull = HTTPError.Code("queueFull")
    /// The task waited in a ``Throttle`` for as long as it may; nothing was sent.
    public static let queueTimedOut = HTTPError.Code("queueTimedOut")
}
