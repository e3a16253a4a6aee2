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
/// throttle.maximumNumberOfRequests = 1  // The server is overloaded.
/// throttle.maximumNumberOfRequests = 0  // A pause: no task starts, and those that run end normally.
/// throttle.maximumNumberOfRequests = 6  // The waiting tasks start at once.
/// ```
///
/// **Where it belongs.** Above the loader that retries, so that a task keeps its slot from the first attempt to the last:
/// when a server struggles, the retries then slow down the newcomers and do not come on top of them. Below loaders that
/// answer without sending anything, whose tasks need no slot. If it limits hosts, below the loader that fills in the host,
/// because it counts what it sees.
///
/// **The order.** First come, first served among tasks of one ``ThrottlePriority``, and higher priorities go first. A new task
/// never starts before a waiter that could run; only a waiter whose host is busy is overtaken by those of other hosts. No
/// priority starves: a waiter that could run, and that eight tasks of higher priority have overtaken, goes next, overall and at
/// its host; with a `patience`, also a waiter that they have overtaken for that long. A request with `throttle` set to
/// ``ThrottleOption/never`` goes straight through and is not counted.
///
/// **How waiting ends.** With a slot; or with the task's cancel, at once; or at the request's ``HTTPRequest/deadline`` with
/// ``HTTPError/Code/deadlineExceeded``; or, if the throttle has a ``queueTimeout``, after that time with
/// ``HTTPError/Code/queueTimedOut``. If the queue is full, a new task fails at once with ``HTTPError/Code/queueFull``, unless a
/// task of a lower priority waits: then the waiter of the lowest priority whose turn would come last fails instead. A reset
/// ends the waiting with ``HTTPError/Code/resetInProgress``, and then waits for the tasks that run.
///
/// **Who gets the slots.** A ``ThrottlePartition`` reserves a share of them for certain requests. A host can have a limit of
/// its own in ``hostLimits``, and requests can be counted by a ``HTTPRequest/throttleKey`` instead of their host. With a
/// ``ThrottleOverload``, the lowest priority is refused first while the queue does not get shorter, and ``pressure`` shows how
/// hard it is to get a slot.
///
/// **If callers leave.** Under overload, callers run out of patience soon after they have got their slot, and few answers are
/// still wanted. If a tenth of them leave, four times in a row, a throttle with an adaptive limit serves the newest waiter
/// first, and the oldest at every thirty-second slot, until callers stay again. Without an adaptive limit the order is always
/// that of arrival.
///
/// **Too late for a slot.** A slot that is given to a request shortly before its deadline is wasted: the server works, and the
/// answer comes too late. Under overload, soon every slot is wasted. The throttle therefore learns how long tasks with a
/// deadline that have waited usually take, from the slot to the result: those with one method to one ``HTTPRequest/route`` of a
/// host. If a waiter has less time left than that when its turn comes, by what was known when it came, it fails with
/// ``HTTPError/Code/deadlineExceeded`` if others could use all free slots. No other task is given up early, and none before
/// eight recent tasks of the kind have ended. ``Event/usualTime`` is the time that a task was judged by.
///
/// **What it costs.** A task that starts at once costs no allocation unless hosts are limited. A task that waits costs one
/// allocation, and the same time in a queue of ten as in a queue of a million. A request's deadline costs another allocation
/// while it waits, and a ``queueTimeout`` costs a timer for each task that waits.
public final class Throttle: HTTPLoader, TaskEndObserver, @unchecked Sendable {
    let timers: any Timers
    let core: ThrottleCore
    /// Whether tasks are counted per host, as they are from the first limit per host on.
    private let countsHosts: Atomic<Bool>
    /// Whether more than the number of a task matters: its host, its partition or its priority.
    private let looksCloser: Atomic<Bool>
    /// Looks at the waits, if there is a rule for an overload.
    let lookout: ThrottleLookout?
    /// The program's own settings that ``RemoteSettings`` have replaced.
    let replacedSettings = Locked<[String: any Sendable]>([:])
    /// The index of the lowest priority that is let in.
    private let lowest = Atomic(0)
    /// Finds the partition of a request.
    private let partitions: ThrottleShares
    /// The nanoseconds that a task may wait; `Int64.max` for no timeout.
    private let longestWait: Atomic<Int64>
    /// Whether the last task had to wait and no slot was left free since: the next will wait too, and is spared the attempt to start.
    private let isFull = Atomic(false)

    let finders: LimitFinders?

    /// Makes a throttle with fixed limits.
    ///
    /// - Parameters:
    ///   - maximumNumberOfRequests: the number of tasks that may run at once; unlimited by default.
    ///   - perHost: the number of tasks that may run at once for one host, so that a slow host cannot take every slot. Two
    ///     ports of one machine are two hosts. `.max` only counts them, for ``snapshot``; with nil, the default, hosts do not
    ///     matter.
    ///   - maximumWaiting: the number of tasks that may wait. If the queue is full, a new task fails at once, or, in its place, the
    ///     waiter of a lower priority whose turn would come last. Unlimited by default.
    ///   - queueTimeout: the longest time that a task may wait before it fails; unlimited by default.
    ///   - patience: the longest time for which tasks of higher priorities may overtake a waiter that could run, even if fewer
    ///     than eight do; unlimited by default.
    ///   - timers: the clock.
    public convenience init(
        maximumNumberOfRequests: UInt = .max, perHost: UInt? = nil, maximumWaiting: Int? = nil,
        queueTimeout: Duration? = nil, patience: Duration? = nil, timers: any Timers = SystemTimers.shared
    ) {
        self.init(
            limit: .fixed(maximumNumberOfRequests), perHost: perHost.map(ThrottleLimit.fixed),
            maximumWaiting: maximumWaiting, queueTimeout: queueTimeout, patience: patience, timers: timers)
    }

    /// Makes a throttle whose limits are numbers, or found by what the server does.
    ///
    /// ```swift
    /// let throttle = Throttle(limit: .adaptive(), onEvent: { event in
    ///     if let change = event.limitChange { print(change.from, change.to, change.reason.rawValue) }
    /// })
    /// let chain = throttle --> retry --> AttemptWatch(throttle) --> terminal
    /// ```
    ///
    /// An adaptive limit for all hosts suits a chain to one server; otherwise let `perHost` be adaptive. A limit that the
    /// program sets with ``maximumNumberOfRequests`` or ``perHost`` then holds as well, and the lower one counts.
    ///
    /// - Parameters:
    ///   - limit: the limit of tasks that run at once.
    ///   - perHost: the limit of tasks that run at once for one host; with nil, the default, hosts do not matter.
    ///   - partitions: shares of the limit that are kept for certain requests. With any, hosts are counted too.
    ///   - maximumWaiting: the number of tasks that may wait, in each partition; unlimited by default.
    ///   - queueTimeout: the longest time that a task may wait; unlimited by default.
    ///   - patience: the longest time for which tasks of higher priorities may overtake a waiter that could run.
    ///   - overload: the waits that count as an overload, and the reaction to it; by default there is no such rule.
    ///   - timers: the clock.
    ///   - onEvent: called for each ``Event``, on the thread on which it happens, under no lock.
    public init(
        limit: ThrottleLimit, perHost: ThrottleLimit? = nil, partitions: [ThrottlePartition] = [],
        maximumWaiting: Int? = nil, queueTimeout: Duration? = nil, patience: Duration? = nil,
        overload: ThrottleOverload? = nil, timers: any Timers = SystemTimers.shared,
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.timers = timers
        self.partitions = ThrottleShares(partitions)
        countsHosts = Atomic(perHost != nil || !self.partitions.isWhole)
        looksCloser = Atomic(perHost != nil || !self.partitions.isWhole || overload != nil)
        lookout = overload.map(ThrottleLookout.init)
        longestWait = Atomic(Self.nanoseconds(queueTimeout))
        let isAdaptive = limit.adaptive != nil || perHost?.adaptive != nil
        var state = ThrottleCore.State(
            limit: limit.fixed, perHost: perHost?.fixed, partitions: partitions, mostWaiting: maximumWaiting ?? .max,
            patience: PriorityTurns.Patience(time: patience), overload: overload, mayHasten: isAdaptive)
        if let adaptive = limit.adaptive { state.setFound(UInt(adaptive.initial), for: nil) }
        if let adaptive = perHost?.adaptive { state.queues.foundForNew = UInt(adaptive.initial) }
        core = ThrottleCore(
            state, timers: timers, readsClock: patience != nil,
            timesArrivals: queueTimeout != nil || overload != nil || isAdaptive, onEvent: onEvent)
        let listener = LimitListener(onEvent)
        finders = LimitFinders(total: limit, perHost: perHost, timers: timers, listener)
        super.init()
        // A weak reference costs an allocation during the throttle's life.
        if finders != nil { listener.throttle = self }
    }

    deinit {
        // Nothing can start them any more, so only their callers may hold them.
        for waiter in core.with({ $0.queues.removeAll() }).inOrder { waiter.end() }
    }

    // MARK: Limits

    /// How many tasks may run at once; any thread may change it at any time.
    ///
    /// Raising it starts waiting tasks before this returns. Lowering it stops none that runs. 0 is a pause.
    public var maximumNumberOfRequests: UInt {
        get { core.with { $0.limit } }
        set {
            core.with { $0.limit = newValue }
            startWaiters()
        }
    }

    /// How many tasks of one host may run at once, or nil; any thread may change it at any time.
    ///
    /// A host is a server: its name, however it is spelled, and its port. Tasks that run already when this is set for the
    /// first time count for no host.
    public var perHost: UInt? {
        get { core.with { $0.limitPerHost } }
        set {
            changeHosts(areCounted: newValue != nil) { $0.setLimitPerHost(newValue, origins: $1) }
        }
    }

    /// How many tasks of single hosts may run at once, in place of ``perHost``; any thread may change it at any time.
    ///
    /// ```swift
    /// throttle.hostLimits["slow.example.com"] = 1
    /// throttle.hostLimits["search"] = 2  // All requests with this `throttleKey`.
    /// ```
    ///
    /// A host is named as in ``Snapshot/hosts``: with its port, if that is not the scheme's own. An adaptive limit per host
    /// holds as well, and the lower one counts. Setting an element replaces all of them, so let one thread do it.
    public var hostLimits: [String: UInt] {
        get { core.with { $0.hostLimits } }
        set { changeHosts(areCounted: !newValue.isEmpty) { $0.setHostLimits(newValue, origins: $1) } }
    }

    private func changeHosts(
        areCounted: Bool, _ change: (inout ThrottleCore.State, [QueuePlace: HTTPOrigin]) -> Void
    ) {
        if areCounted {
            // Before the waiters are assigned to their hosts, so that tasks that come meanwhile are queued per host already.
            countsHosts.store(true, ordering: .relaxed)
            looksCloser.store(true, ordering: .relaxed)
            core.countHosts(change)
        } else {
            core.with { change(&$0, [:]) }
        }
        startWaiters()
    }

    /// The number of tasks that may wait, in each partition; nil for unlimited.
    ///
    /// Any thread may change it at any time. If more wait than now may, those of the lowest priority whose turn would come last
    /// fail with ``HTTPError/Code/queueFull`` before this returns.
    public var maximumWaiting: Int? {
        get { core.with { $0.mostWaiting == .max ? nil : $0.mostWaiting } }
        set {
            core.with { $0.setMostWaiting(newValue ?? .max) }
            while let waiter = core.displaced() {
                refuse(waiter, "The queue has been shortened")
            }
        }
    }

    /// The longest time that a task may wait; nil for no timeout.
    ///
    /// Any thread may change it at any time. It holds for the tasks that wait already, too: those that have waited for longer
    /// fail with ``HTTPError/Code/queueTimedOut`` before this returns. For tasks that came while there was no timeout, the time
    /// may begin only now, because their arrival was not recorded.
    public var queueTimeout: Duration? {
        get {
            let nanoseconds = longestWait.load(ordering: .relaxed)
            return nanoseconds == .max ? nil : .nanoseconds(nanoseconds)
        }
        set {
            core.timeArrivals()
            longestWait.store(Self.nanoseconds(newValue), ordering: .relaxed)
            for waiter in core.with({ $0.queues.inOrder }) { applyTimeout(to: waiter) }
        }
    }

    /// The lowest priority that is let in; tasks of lower ones fail at once with ``HTTPError/Code/shed``.
    ///
    /// ```swift
    /// throttle.minimumPriority = .normal  // No prefetching, until there is room again.
    /// ```
    ///
    /// Any thread may change it at any time. Tasks of lower priorities that wait fail before this returns; those that run are not
    /// stopped.
    public var minimumPriority: ThrottlePriority {
        get { ThrottlePriority.allCases[lowest.load(ordering: .relaxed)] }
        set {
            lowest.store(ThrottlePriority.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed)
            if newValue > .low { looksCloser.store(true, ordering: .relaxed) }
            let waiting = core.with { $0.queues.inOrder.map { ($0, $0.waitingTask) } }
            for case (let waiter, let task?) in waiting { shedIfTooLow(waiter, task) }
        }
    }

    @inline(never)
    private func shedIfTooLow(_ waiter: ThrottleWaiter, _ task: HTTPTask) {
        let least = minimumPriority
        if task.option(ThrottlePriority.self) < least { waiter.fail(.shed, reason: Self.tooLow(least)) }
    }

    private static func tooLow(_ least: ThrottlePriority) -> String {
        "The throttle only lets in priorities from \(least) on for now; ask for this again later"
    }

    private static func nanoseconds(_ timeout: Duration?) -> Int64 {
        timeout.map { max(0, $0.saturatedNanoseconds) } ?? .max
    }

    /// How many tasks run and wait at the moment, in all and per host.
    public var snapshot: Snapshot {
        core.with { $0.snapshot }
    }

    /// The limits, how many run and wait, and whether an ``AttemptWatch`` stands where none of them comes.
    public override var details: String {
        let (limit, perHost, running, waiting) = core.with {
            ($0.allowed, $0.limitPerHost, $0.running, $0.waiting)
        }
        var text = limit == .max ? "no limit" : "limit \(limit)"
        if let perHost, perHost != .max { text += ", per host \(perHost)" }
        if minimumPriority > .low { text += ", priority at least \(minimumPriority)" }
        text += ", running \(running), waiting \(waiting)"
        if let finders, finders.watchIsElsewhere { text += ", its AttemptWatch sees none of them" }
        return text
    }

    /// The numbers of tasks that run, wait and may run, in all, per partition, and for the busiest hosts.
    public override var readings: [LoaderReading] {
        let (limit, snapshot) = core.with { ($0.allowed, $0.snapshot) }
        return snapshot.readings(limit: limit == .max ? nil : limit, pressure: lookout?.pressure)
    }

    // MARK: As a loader

    public override func load(task: HTTPTask) {
        guard task.option(ThrottleOption.self) == .always else { return super.load(task: task) }
        if looksCloser.load(ordering: .relaxed) || task.hasDeadline { return loadCounted(task) }
        guard !isFull.load(ordering: .relaxed), core.with({ $0.start(task.number) }) != nil else {
            return queue(task, for: nil, until: nil)
        }
        task.addEndObserver(self)
        pass(task)
    }

    /// Passes a task on, or lets it wait, if more than its number matters.
    @inline(never)
    private func loadCounted(_ task: HTTPTask) {
        let least = minimumPriority
        if least > .low, task.option(ThrottlePriority.self) < least {
            core.report(.shed, of: task.request)
            fail(task, .shed, reason: Self.tooLow(least))
            return
        }
        let origin = countsHosts.load(ordering: .relaxed) ? task.request.throttleOrigin : nil
        let partition = partitions.isWhole ? 0 : partitions.index(of: task.option(ThrottlePartitionOption.self))
        let counted = lookout == nil ? nil : task.option(ThrottlePriority.self)
        // A queue of other hosts or partitions says nothing about this one's.
        guard origin != nil || !isFull.load(ordering: .relaxed),
            let slot = core.with({ state in
                let slot = origin.map { state.start(task.number, for: $0, in: partition) } ?? state.start(task.number)
                if let slot, let counted { state.queues.countStart(counted, in: slot.lane) }
                return slot
            })
        else {
            let deadline = task.deadline.map { core.deadline($0, of: task.request, isAdaptive: finders != nil) }
            return queue(task, for: origin, in: partition, until: deadline)
        }
        if slot.lane == nil { task.addEndObserver(self) } else { task.addObserver(ThrottleSlotHolder(slot, of: self)) }
        pass(task)
    }

    /// Ends the waiting, and finishes when the tasks have ended that ran when it began.
    public override func reset(with group: DispatchGroup) {
        group.enter()
        defer { group.leave() }
        // A second time, for the tasks that run: they may end before the waiting does.
        group.enter()
        // Drawn under the lock, so that it is higher than the number of any task that was let through before.
        let (waiters, isFinished) = core.with { $0.reset(TaskIdentity.next(), group) }
        let left = waiters.inOrder
        for waiter in left { core.report(.left, of: waiter) }
        for task in left.compactMap({ $0.end() }) {
            fail(task, .resetInProgress, reason: "It was waiting for its turn when the chain was reset")
        }
        if isFinished { group.leave() }
        super.reset(with: group)
    }

    /// Forgets the reset, although tasks that it waited for still run.
    public override func resetTimedOut(with group: DispatchGroup) {
        finish(core.with { $0.giveUp { $0 === group } })
        super.resetTimedOut(with: group)
    }

    // MARK: Waiting

    @inline(never)
    private func queue(
        _ task: HTTPTask, for origin: HTTPOrigin?, in partition: Int = 0, until deadline: ThrottleDeadline?
    ) {
        if finders != nil { core.readClock() }
        let waiter = ThrottleWaiter(task, until: deadline, since: deadline?.arrival ?? core.arrival, in: core)
        let arrival = ThrottleArrival(
            number: task.number, priority: task.option(ThrottlePriority.self), origin: origin, partition: partition,
            latestStart: deadline?.latestStart ?? .never, instant: waiter.arrival)
        // It observes the task before others can see it, so that loaders below are always called before it.
        task.addObserver(waiter)
        switch core.arrive(waiter, arrival, in: self) {
        case .starts:
            start(waiter)
        case .waits(_, let displaced):
            if !isFull.load(ordering: .relaxed) { isFull.store(true, ordering: .relaxed) }
            settle(waiter, task)
            if let displaced { refuse(displaced, "A task of a higher priority took its place") }
        case .waitsInstead(_, let other):
            settle(waiter, task)
            shed(other)
        case .isShed:
            shed(waiter)
        case .isRefused:
            refuse(waiter, "No task of a lower priority could be displaced")
        case nil:
            waiter.end()
            // Either it was completed, and this does nothing, or it was cancelled.
            fail(task, .cancelled)
        }
    }

    /// Does what is left to do for a waiter in the queue, which another thread may start at any time.
    @inline(__always)
    private func settle(_ waiter: ThrottleWaiter, _ task: HTTPTask) {
        core.reportQueued(waiter, task)
        // It may have been set since the task was let in.
        if lowest.load(ordering: .relaxed) != 0 { shedIfTooLow(waiter, task) }
        if longestWait.load(ordering: .relaxed) != .max { applyTimeout(to: waiter) }
        if let lookout { watchWaits(lookout) }
    }

    @inline(never)
    private func refuse(_ waiter: ThrottleWaiter, _ reason: String) {
        core.report(.refused, of: waiter)
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
        let reason = waiter.deadline?.refusal(at: timers.now)
        core.report(.expired, of: waiter, usualTime: waiter.deadline?.usualTime)
        if let task = waiter.end() { fail(task, .deadlineExceeded, reason: reason) }
    }

    /// Ends the wait when the throttle's timeout is over.
    @inline(never)
    private func applyTimeout(to waiter: ThrottleWaiter) {
        var nanoseconds = longestWait.load(ordering: .relaxed)
        while true {
            setTimer(of: waiter, after: nanoseconds)
            // If the timeout was changed meanwhile, the other thread's timer may be the older one.
            let latest = longestWait.load(ordering: .relaxed)
            guard latest != nanoseconds else { return }
            nanoseconds = latest
        }
    }

    private func setTimer(of waiter: ThrottleWaiter, after nanoseconds: Int64) {
        let duration = Duration.nanoseconds(nanoseconds)
        let waited = core.waited(waiter) ?? .zero
        // The end of the whole task ends its wait too.
        let endsSooner = waiter.deadline.map { $0.instant <= $0.arrival.advanced(by: duration) } ?? false
        guard nanoseconds < .max, !endsSooner else {
            core.keep(nil, for: waiter)?.cancel()
            return
        }
        let end = { @Sendable in
            waiter.fail(.queueTimedOut, reason: "It timed out after \(duration) in the throttle's queue")
        }
        if waited > .zero, waited >= duration { return end() }
        core.keep(timers.schedule(after: duration - waited, end), for: waiter)?.cancel()
    }

    // MARK: Running

    private func startWaiters() {
        while let turn = core.next(in: self) {
            if turn.slot != nil { startWaiter(turn.waiter) } else { giveUp(turn.waiter) }
        }
        isFull.store(false, ordering: .relaxed)
    }

    @inline(__always)
    private func startWaiter(_ waiter: ThrottleWaiter) {
        core.report(.started, of: waiter)
        start(waiter)
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
    private func watch(_ task: HTTPTask, _ finders: LimitFinders) { finders.watchUnwatched(task) }

    func adopt(_ finder: LimitFinder, raises: Bool) {
        // Read under the core's lock, so that the last of several threads leaves the latest.
        core.with { $0.setFound(finder.current, for: finder.origin) }
        // Shares are rounded down, so that with a lower limit partitions may keep fewer slots for themselves.
        if raises || !partitions.isWhole { startWaiters() }
    }

    /// Forgets the adaptive limits of hosts that were not used for long.
    func forgetLimits(of origins: [HTTPOrigin]) {
        core.with { $0.queues.forgetFound(for: origins) }
        startWaiters()
    }

    /// Gives the slot to the next waiter; this is called for tasks that did not wait and are counted for no host.
    func taskHasEnded(_ task: HTTPTask, with result: HTTPResult) {
        finish(ThrottleSlot(number: task.number, lane: nil))
    }

    @inline(__always)
    func finish(_ slot: ThrottleSlot) { carryOut(core.finish(slot, in: self)) }

    @inline(__always)
    func carryOut(_ end: ThrottleCore.State.End) {
        if let resets = end.resets { finish(resets) }
        if end.isIdle { core.reportIdle() }
        if let next = end.next {
            if next.slot != nil { startWaiter(next.waiter) } else { passOver(next.waiter) }
            if end.mayHaveMore { startWaiters() }
        } else if isFull.load(ordering: .relaxed) {
            isFull.store(false, ordering: .relaxed)
        }
    }

    @inline(never)
    private func finish(_ resets: [DispatchGroup]) {
        for group in resets { group.leave() }
    }
}
