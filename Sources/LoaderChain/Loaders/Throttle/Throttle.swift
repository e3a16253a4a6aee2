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
/// run; only a waiter whose host is busy is passed by those of other hosts. No priority starves: when eight of higher priority
/// have gone past one that could have run, it is that one's turn, in all and at its host; with a `patience`, also when they
/// have done so for that long. A request with `throttle` set to
/// ``ThrottleOption/never`` goes straight through and is not counted.
///
/// **How waiting ends.** With a slot; or with the task's cancel, at once; or at the request's ``HTTPRequest/deadline`` with
/// ``HTTPError/Code/deadlineExceeded``; or, where the throttle was made so, at a deadline for waiting alone, with
/// ``HTTPError/Code/queueTimedOut``. Where as many wait already as may, a task fails on arrival with
/// ``HTTPError/Code/queueFull``; but if one of a lower priority waits, the last of the lowest fails so instead, and makes
/// room. A reset ends the waiting with ``HTTPError/Code/resetInProgress``, and then waits for the tasks that run.
///
/// **Too late for a slot.** A slot that is given to a request shortly before its deadline is wasted: the server works, and the
/// answer comes too late. Under overload that soon is every slot. The throttle therefore learns how long tasks with a deadline
/// usually take, from the slot to the result, at each host where it tells hosts apart. A waiter that has less time left when
/// its turn comes fails with ``HTTPError/Code/deadlineExceeded``, if another one could use the slot; so does a task on arrival
/// that would have to wait. Nothing else is given up early, and nothing at all before eight such tasks have ended.
///
/// **What it costs.** A task that starts at once costs no allocation unless hosts are limited or it has a deadline; one that
/// waits costs one, and the same time in a queue of ten as in one of a million. A deadline of the throttle adds a timer for
/// each task that waits.
public final class Throttle: HTTPLoader, HTTPTaskObserver, @unchecked Sendable {
    /// How many tasks may wait; nil for as many as come.
    public let maximumWaiting: Int?
    /// How long a task may wait; nil for as long as it takes.
    public let deadline: Duration?
    private let timers: any Timers
    private let room: ThrottleRoom
    /// Whether hosts are told apart, from the first limit per host on.
    private let tellsHostsApart: Atomic<Bool>
    /// Whether the last task had to wait and no slot has been left free since: then the next one will wait too.
    ///
    /// It only spares a task that will wait the attempt to start at once.
    private let isFull = Atomic(false)

    /// What finds the adaptive limits, if there are any.
    let finders: LimitFinders?

    /// Makes a throttle with fixed limits.
    ///
    /// - Parameters:
    ///   - maximumNumberOfRequests: how many tasks may run at once; by default as many as come.
    ///   - perHost: how many of them may be for one host, so that a slow one cannot take every slot. Two ports of one machine
    ///     are two hosts. `.max` only counts them, for ``snapshot``; nil, the default, does not look at hosts at all.
    ///   - maximumWaiting: how many tasks may wait. One more fails at once, or the last of a lower priority does in its
    ///     place. By default as many as come.
    ///   - deadline: how long a task may wait; then it fails. By default as long as it takes.
    ///   - patience: for how long tasks of higher priorities may go past one that could have run; then it is that one's turn,
    ///     even if fewer than eight did. By default only their number counts.
    ///   - timers: what tells when a deadline has come, and the time.
    public convenience init(
        maximumNumberOfRequests: UInt = .max, perHost: UInt? = nil, maximumWaiting: Int? = nil,
        deadline: Duration? = nil, patience: Duration? = nil, timers: any Timers = SystemTimers.shared
    ) {
        self.init(
            limit: .fixed(maximumNumberOfRequests), perHost: perHost.map(ThrottleLimit.fixed),
            maximumWaiting: maximumWaiting, deadline: deadline, patience: patience, timers: timers)
    }

    /// Makes a throttle whose limits are numbers, or found by what the server does.
    ///
    /// ```swift
    /// let throttle = Throttle(limit: .adaptive(), onLimitChange: { print($0.from, $0.to, $0.reason.rawValue) })
    /// let chain = throttle --> retry --> AttemptWatch(throttle) --> terminal
    /// ```
    ///
    /// An adaptive limit for all hosts suits a chain to one server; otherwise let `perHost` be adaptive. A limit that the
    /// program sets with ``maximumNumberOfRequests`` or ``perHost`` then holds as well, and the lower one counts.
    ///
    /// - Parameters:
    ///   - limit: how many tasks may run at once.
    ///   - perHost: how many of them may be for one host; nil, the default, does not look at hosts at all.
    ///   - maximumWaiting: how many tasks may wait; by default as many as come.
    ///   - deadline: how long a task may wait; by default as long as it takes.
    ///   - patience: for how long tasks of higher priorities may go past one that could have run.
    ///   - timers: what tells when a deadline has come, and the time.
    ///   - onLimitChange: called after an adaptive limit has moved, on the thread that moved it, under no lock.
    public init(
        limit: ThrottleLimit, perHost: ThrottleLimit? = nil, maximumWaiting: Int? = nil,
        deadline: Duration? = nil,
        patience: Duration? = nil, timers: any Timers = SystemTimers.shared,
        onLimitChange: (@Sendable (AdaptiveLimit.Change) -> Void)? = nil
    ) {
        self.maximumWaiting = maximumWaiting
        self.deadline = deadline
        self.timers = timers
        tellsHostsApart = Atomic(perHost != nil)
        var state = ThrottleRoom.State(
            limit: limit.fixed, perHost: perHost?.fixed, mostWaiting: maximumWaiting ?? .max,
            patience: PriorityTurns.Patience(time: patience))
        if let adaptive = limit.adaptive { state.setFound(UInt(adaptive.initial), for: nil) }
        if let adaptive = perHost?.adaptive { state.queues.foundForNew = UInt(adaptive.initial) }
        room = ThrottleRoom(state, timers: timers, tellsTime: patience != nil)
        let listener = LimitListener(onLimitChange)
        finders = LimitFinders(total: limit, perHost: perHost, timers: timers, listener)
        super.init()
        listener.throttle = self
    }

    deinit {
        // Nothing can start them any more, so only their callers may hold them.
        for waiter in room.with({ $0.removeAll() }).inOrder { waiter.end() }
    }

    // MARK: Limits

    /// How many tasks may run at once; any thread may change it at any time.
    ///
    /// Raising it starts waiting tasks before this returns. Lowering it stops none that runs. 0 is a pause.
    public var maximumNumberOfRequests: UInt {
        get { room.with { $0.limit } }
        set {
            room.with { $0.limit = newValue }
            startWaiters()
        }
    }

    /// How many tasks of one host may run at once, or nil; any thread may change it at any time.
    ///
    /// A host is a server: its name, however it is spelled, and its port. Tasks that run already when this is set for the
    /// first time count for no host.
    public var perHost: UInt? {
        get { room.with { $0.limitPerHost } }
        set {
            // Before the waiters are told apart, so that newcomers do not join them untold.
            if newValue != nil { tellsHostsApart.store(true, ordering: .relaxed) }
            room.setLimitPerHost(newValue)
            startWaiters()
        }
    }

    /// How many tasks run and wait at the moment, in all and per host.
    public var snapshot: Snapshot {
        room.with { $0.snapshot }
    }

    /// The limits, and how many run and wait.
    public override var details: String {
        let (limit, perHost, running, waiting) = room.with {
            ($0.allowed, $0.limitPerHost, $0.running, $0.waiting)
        }
        var text = limit == .max ? "no limit" : "limit \(limit)"
        if let perHost, perHost != .max { text += ", per host \(perHost)" }
        return text + ", running \(running), waiting \(waiting)"
    }

    // MARK: As a loader

    /// Passes the task on, or lets it wait.
    public override func load(task: HTTPTask) {
        guard task.option(ThrottleOption.self) == .always else { return super.load(task: task) }
        if tellsHostsApart.load(ordering: .relaxed) || task.hasDeadline { return loadTold(task) }
        guard !isFull.load(ordering: .relaxed), room.with({ $0.start(task.number) }) != nil else {
            return queue(task, for: nil, within: nil)
        }
        task.addObserver(self)
        pass(task)
    }

    /// Passes a task on, or lets it wait, whose host or deadline matters.
    @inline(never)
    private func loadTold(_ task: HTTPTask) {
        let origin = tellsHostsApart.load(ordering: .relaxed) ? task.request.origin : nil
        let limits = task.deadline.map(room.limits)
        guard !isFull.load(ordering: .relaxed),
            let slot = room.with({ state in
                origin.map { state.start(task.number, for: $0) } ?? state.start(task.number)
            })
        else { return queue(task, for: origin, within: limits) }
        task.addObserver(ThrottleSlotHolder(slot, since: limits?.arrival, of: self))
        pass(task)
    }

    /// Ends the waiting, and finishes when the tasks have ended that ran when it began.
    public override func reset(with group: DispatchGroup) {
        group.enter()
        defer { group.leave() }
        // A second time, for the tasks that run: their end may come before that of the waiting.
        group.enter()
        // Drawn under the lock, so that it is higher than the number of any task that was let through before.
        let (waiters, isFinished) = room.with { $0.reset(TaskIdentity.next(), group) }
        for task in waiters.inOrder.compactMap({ $0.end() }) {
            fail(task, .resetInProgress, reason: "It was waiting for its turn when the chain was reset")
        }
        if isFinished { group.leave() }
        super.reset(with: group)
    }

    // MARK: Waiting

    @inline(never)
    private func queue(_ task: HTTPTask, for origin: HTTPOrigin?, within limits: ThrottleLimits?) {
        let (number, priority) = (task.number, task.option(ThrottlePriority.self))
        let limits = limits ?? deadline.map { _ in ThrottleLimits(arrival: timers.now, deadline: .never) }
        let waiter = ThrottleWaiter(task, within: limits, in: room)
        // It listens before others can see it, so that loaders below are always told before it.
        task.addObserver(waiter)
        switch room.arrive(waiter, number: number, priority: priority, for: origin, in: self) {
        case .starts:
            start(waiter)
        case .waits(_, let displaced):
            if !isFull.load(ordering: .relaxed) { isFull.store(true, ordering: .relaxed) }
            if let deadline { limit(waiter, to: deadline) }
            if let displaced { refuse(displaced, "A task of a higher priority took its place") }
        case .isRefused:
            refuse(waiter, "No task of a lower priority could make room for it")
        case .isTooLate:
            giveUp(waiter)
        case nil:
            waiter.end()
            // Either it was completed, and this does nothing, or it was cancelled.
            fail(task, .cancelled)
        }
    }

    private func refuse(_ waiter: ThrottleWaiter, _ reason: String) {
        guard let task = waiter.end() else { return }
        fail(task, .queueFull, reason: "\(reason), and no more than \(maximumWaiting ?? 0) may wait")
    }

    /// Gives up a waiter, after its slot, which is free still, was given to the next.
    @inline(never)
    private func passOver(_ waiter: ThrottleWaiter) {
        startWaiters()
        giveUp(waiter)
    }

    @inline(never)
    private func giveUp(_ waiter: ThrottleWaiter) {
        let reason = room.refusal(of: waiter)
        if let task = waiter.end() { fail(task, .deadlineExceeded, reason: reason) }
    }

    private func limit(_ waiter: ThrottleWaiter, to duration: Duration) {
        // The end of the whole task ends its wait too.
        if let limits = waiter.limits, limits.deadline <= limits.arrival.advanced(by: duration) { return }
        let timer = timers.schedule(after: duration) {
            waiter.fail(.queueTimedOut, reason: "It waited for \(duration), which is as long as it may")
        }
        if !room.keep(timer, for: waiter) { timer.cancel() }
    }

    // MARK: Running

    /// Starts one waiter after the other for as long as there is room.
    private func startWaiters() {
        while let turn = room.next(in: self) {
            if turn.slot != nil { start(turn.waiter) } else { giveUp(turn.waiter) }
        }
        isFull.store(false, ordering: .relaxed)
    }

    @inline(__always)
    private func start(_ waiter: ThrottleWaiter) {
        if let task = waiter.end() { pass(task) }
    }

    /// Passes on a task that has its slot.
    @inline(__always)
    private func pass(_ task: HTTPTask) {
        if let finders { watch(task, finders) }
        super.load(task: task)
    }

    @inline(never)
    private func watch(_ task: HTTPTask, _ finders: LimitFinders) {
        // Where the attempts are watched, the task is not taken for one.
        if !finders.haveWatch.load(ordering: .relaxed) { finders.watch(task) }
    }

    /// Goes by what a finder has found.
    func adopt(_ finder: LimitFinder, raises: Bool) {
        // Read under the room's lock, so that the last of several threads leaves the latest.
        room.with { $0.setFound(finder.current, for: finder.origin) }
        if raises { startWaiters() }
    }

    /// Lets hosts that were not used for long begin anew.
    func forgetLimits(of origins: [HTTPOrigin]) {
        room.with { $0.queues.forgetFound(for: origins) }
        startWaiters()
    }

    /// Gives a slot to the next in line; the throttle hears here of tasks that did not wait and are counted for no host.
    public func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        finish(ThrottleSlot(number: task.number, host: nil))
    }

    /// Takes back the slot of a task that has ended.
    @inline(__always)
    func finish(_ slot: ThrottleSlot) { carryOut(room.finish(slot, in: self)) }

    /// Learns how long a task took that is about to end.
    func learn(from run: ThrottleRun, in slot: ThrottleSlot) { room.learn(from: run, in: slot) }

    /// Does what the end of a task has led to.
    @inline(__always)
    func carryOut(_ end: ThrottleRoom.State.End) {
        if let resets = end.resets { finish(resets) }
        if let next = end.next {
            if next.slot != nil { start(next.waiter) } else { passOver(next.waiter) }
        } else if isFull.load(ordering: .relaxed) {
            isFull.store(false, ordering: .relaxed)
        }
    }

    @inline(never)
    private func finish(_ resets: [DispatchGroup]) {
        for group in resets { group.leave() }
    }
}

extension HTTPError.Code {
    /// As many tasks waited in a ``Throttle`` as may, and this one had the least claim to a place; nothing was sent.
    public static let queueFull = HTTPError.Code("queueFull")
    /// The task waited in a ``Throttle`` for as long as it may; nothing was sent.
    public static let queueTimedOut = HTTPError.Code("queueTimedOut")
}
