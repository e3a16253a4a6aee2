import Dispatch
import LoaderChain
import Synchronization

/// One part's loader and what is around it; a part runs on one thread, which also moves the clock, but only while it waits.
final class ContractStage: Sendable {
    let check: ContractCheck
    let signal: ContractSignal
    let timers: ManualTimers
    private let state = Locked(State())
    /// How many calls that may never return have begun or ended.
    private let calls = Atomic(0)
    /// How many tasks the parts about load have loaded.
    private let loads = Atomic(0)
    /// How many calls on other threads have begun to be awaited, or have ended.
    private let sideSteps = Atomic(0)
    /// The thread of the part, whose calls are watched.
    private let thread = SystemThread.currentNumber

    private struct State {
        var violations: [String] = []
        var isOver = false
        /// The chains, which are used until the end.
        var chains: [HTTPLoader] = []
        var terminals: [ContractTerminal] = []
        var loaded: [TaskProbe] = []
        var remains: [(name: String, object: WeakReference)] = []
        var clockStands = false
        var call: String?
        var lastPath = 0
    }

    init(_ check: ContractCheck) {
        self.check = check
        let signal = ContractSignal()
        self.signal = signal
        timers = ManualTimers { signal.raise() }
    }

    // MARK: The chain

    /// Makes a loader of the kind that is checked, linked to a terminal with the given behavior.
    func chain(
        to behaviour: ContractTerminal.Behaviour,
        atMoment: @escaping @Sendable (ContractTerminal.Moment) -> Void = { _ in }
    ) -> (chain: HTTPLoader, terminal: ContractTerminal) {
        let terminal = ContractTerminal(behaviour, signal, atMoment: atMoment)
        state.withLock { $0.terminals.append(terminal) }
        return (chain(to: terminal), terminal)
    }

    func chain(to terminal: HTTPLoader) -> HTTPLoader {
        let loader = call("The closure that makes the loader") { check.make(timers) }
        watch(loader, "the loader")
        watch(terminal, "the loader after it")
        state.withLock { $0.chains.append(loader) }
        // A terminal is checked as well.
        return loader.tail.isTerminal ? loader : loader --> terminal
    }

    /// A request with the canary, and a path that no other request of this stage has.
    func request(_ path: String? = nil) -> HTTPRequest {
        let path = path ?? newPath()
        var request = HTTPRequest(method: .get, host: "contract.test", path: path)
        request[option: ContractCanary.self] = path
        return request
    }

    func newPath() -> String {
        let number = state.withLock { state in
            state.lastPath += 1
            return state.lastPath
        }
        return "/contract/\(number)"
    }

    /// Records an object that must be gone when the stage ends.
    func watch(_ object: AnyObject, _ name: String) {
        let reference = WeakReference(object)
        state.withLock { $0.remains.append((name, reference)) }
    }

    // MARK: What was found

    var found: [String] { state.withLock { $0.violations } }

    /// Whether an event did not come, so that later violations would only follow from it.
    var isOver: Bool { state.withLock { $0.isOver } }

    func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        guard !condition, !isOver else { return }
        let sentence = sentence()
        state.withLock { if !$0.violations.contains(sentence) { $0.violations.append(sentence) } }
    }

    /// Notes that something did not happen in time: what was awaited, and after a colon, why and how to mend it.
    func noteVainWait(_ sentence: String, _ reason: String) {
        conclude(with: "\(sentence) within \(check.patience): \(reason)")
    }

    /// Notes a violation from which later ones would follow, so that all waits of the part end, and no part comes after it.
    func conclude(with violation: String) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            state.violations.append(violation)
        }
        signal.raise()
    }

    // MARK: Calls

    /// Makes a call that may never return, on this part's thread, so that it can be named then.
    func call<Result>(_ name: String, _ body: () -> Result) -> Result {
        let outer = enter(name)
        defer { enter(outer) }
        return body()
    }

    /// Notes that the call under way is making progress, as it loads one more of many tasks.
    func noteProgress() { loads.wrappingAdd(1, ordering: .relaxed) }

    /// The call under way, if any, and a number that stays the same only while nothing happens.
    var presentCall: (name: String?, number: Int) {
        (
            state.withLock(\.call),
            calls.load(ordering: .relaxed) + loads.load(ordering: .relaxed) + signal.events
        )
    }

    @discardableResult
    private func enter(_ name: String?) -> String? {
        calls.wrappingAdd(1, ordering: .relaxed)
        return state.withLock { replace(&$0.call, with: name) }
    }

    /// Makes a call on another thread, one at a time, and returns whether it has returned in time.
    func returnsElsewhere(_ body: @escaping @Sendable () -> Void) -> Bool {
        sideSteps.wrappingAdd(1, ordering: .relaxed)
        defer { sideSteps.wrappingAdd(1, ordering: .relaxed) }
        let (begun, returned) = (ContractSignal(), ContractSignal())
        check.startThread(orSay: conclude) {
            begun.raise()
            body()
            returned.raise()
        }
        let wait = { [patience] in
            // When the thread begins is the system's affair, and not the loader's, unless the loader keeps all threads.
            let last = patience.deadlineOfTurns
            while !self.isOver, begun.events == 0, .now() < last { _ = begun.wait(after: 0, until: .now() + 1) }
            return patience.wait(until: { self.isOver || returned.events > 0 }) { deadline in
                _ = returned.wait(after: 0, until: deadline)
            }
        }
        guard SystemThread.currentNumber == thread else { return wait() }
        // The call under way is not to blame for this wait, which comes to its end.
        let outer = enter(nil)
        defer { enter(outer) }
        return wait()
    }

    // MARK: Waiting

    /// Lets everything run that waits for a thread.
    func takeAllTurns() { patience.takeAllTurns() }

    private var patience: ContractPatience { ContractPatience(time: check.patience) }

    /// Waits until `isDone` holds, while the clock moves if it does; false if it never holds, or an earlier wait failed.
    ///
    /// A call on another thread is awaited first: whatever it waits for may block everything else.
    func wait(until isDone: () -> Bool) -> Bool {
        while !isOver {
            let before = sideSteps.load(ordering: .relaxed)
            let isInTime = patience.wait(until: { self.isOver || isDone() }) { deadline in
                let events = signal.events
                if isDone() || moveClock() { return }
                _ = signal.wait(after: events, until: deadline)
            }
            if isInTime { return !isOver }
            let isAlone = before.isMultiple(of: 2) && before == sideSteps.load(ordering: .relaxed)
            if isAlone { return false }
        }
        return false
    }

    /// Waits until `isDone` holds, while tasks are loaded; timers that run are not progress, as a loader may set them again without end.
    func waitWhileProgressing(until isDone: () -> Bool) -> Bool {
        while !isDone() {
            let before = loads.load(ordering: .relaxed)
            guard wait(until: { isDone() || loads.load(ordering: .relaxed) >= before + 100 }) else { return false }
        }
        return true
    }

    func stopClock() { state.withLock { $0.clockStands = true } }

    /// Lets the clock move again, whenever the stage waits.
    func startClock() { state.withLock { $0.clockStands = false } }

    var timeHasPassed: Bool { timers.now > TimerInstant(nanoseconds: 0) }

    private func moveClock() -> Bool {
        guard !state.withLock({ $0.clockStands }), timers.pendingCount > 0 else { return false }
        // Loaders that work on other threads get a chance to be quicker than their time limits.
        SystemThread.yield()
        // One at a time, since an action may schedule the next for the same moment, without end.
        return call("The action of a timer") { timers.runAll(limit: 1) > 0 }
    }

    // MARK: Tasks

    func probe(_ path: String? = nil) -> TaskProbe { TaskProbe(path ?? newPath(), signal) }

    /// Loads a request, and returns a probe for its result; the completion handler calls `onCompletion` before the probe learns of it.
    func load(
        _ path: String? = nil, with chain: HTTPLoader, onCompletion: @escaping @Sendable () -> Void = {}
    ) -> TaskProbe {
        let probe = probe(path)
        call("`load(task:)`, or a handler that it called,") {
            probe.task = WeakReference(
                chain.load(request: request(probe.path)) {
                    onCompletion()
                    probe.complete($0)
                })
        }
        state.withLock { $0.loaded.append(probe) }
        return probe
    }

    @discardableResult
    func cancel(_ probe: TaskProbe) -> Bool {
        call("A handler of the task's cancel") { probe.cancel() }
    }

    /// Awaits a probe's result; notes a violation if there is none, more than one, or one that says that the task was abandoned.
    ///
    /// `what` is the subject of a sentence, `mayBeAbandoned` says that the terminal has lost the task, and `reason` is the sentence if
    /// there is no result; nil for what can be seen.
    @discardableResult
    func result(
        of probe: TaskProbe, _ what: String = "a task", mayBeAbandoned: Bool = false, orSay reason: String? = nil
    ) -> HTTPResult? {
        guard wait(until: { probe.hasEnded }) else {
            noteVainWait("\(what) did not complete", isFlooded ? Self.flood : reason ?? whereabouts(of: probe))
            return nil
        }
        expect(
            probe.completions == 1, "\(what) completed \(probe.completions) times: its completion must be called once")
        if !mayBeAbandoned, let error = probe.result?.error, error.code == .abandoned {
            conclude(
                with:
                    "\(error.loader ?? "the loader") released \(what) without completing it: pass every task on with "
                    + "`super.load(task:)`, or complete it")
        }
        return probe.result
    }

    /// Resets a chain; notes a violation if that does not finish.
    func reset(_ chain: HTTPLoader, _ what: String = "a reset") { end(of: beginReset(chain), what) }

    /// Resets as a loader does that resets others itself: within the call of the first loader, those after it are reset.
    func resetNested(_ chain: HTTPLoader) {
        let probe = probe()
        let group = DispatchGroup()
        call("`reset(with:)`") { chain.reset(with: group) }
        group.notify(queue: .global()) { probe.complete() }
        end(of: probe)
    }

    func beginReset(_ chain: HTTPLoader) -> TaskProbe {
        let probe = probe()
        call("`reset(with:)`") { chain.reset { probe.complete() } }
        return probe
    }

    func end(of probe: TaskProbe, _ what: String = "a reset") {
        guard !wait(until: { probe.hasEnded }) else { return }
        noteVainWait(
            "\(what) did not finish",
            "leave the group once for every time that `reset(with:)` has entered it, also when there is nothing to do")
    }

    func answerAll(at terminal: ContractTerminal, until probe: TaskProbe) {
        while wait(until: { probe.hasEnded || !terminal.held.isEmpty }), !probe.hasEnded {
            // The newest first, since a loader must not rely on an order.
            if let task = terminal.held.last { answer(task, at: terminal) }
        }
    }

    func answer(_ task: HTTPTask, at terminal: ContractTerminal) {
        call("A completion handler of the loader") { terminal.give(to: task) }
    }

    // MARK: Naming

    private var isFlooded: Bool { state.withLock { $0.terminals }.contains(where: \.isFlooded) }

    private static let flood =
        "the loader sends requests without end: limit how often it tries again, and stop when the task is cancelled"

    /// The place of a task that has not completed, and what is missing there.
    private func whereabouts(of probe: TaskProbe) -> String {
        let isCancelled = (probe.task?.object as? HTTPTask)?.isCancelled ?? false
        let arrivals = state.withLock { $0.terminals }.flatMap(\.arrivals).filter {
            $0.canary == probe.path || $0.path == probe.path
        }
        let present = arrivals.compactMap { $0.task.object as? HTTPTask }
        guard !arrivals.isEmpty else {
            let place = timers.pendingCount > 0 ? "the loader holds it until a time" : "the loader holds it"
            if isCancelled {
                return "\(place), and does not complete it when it is cancelled: add a cancel handler that does"
            }
            return "\(place), and has neither passed it on nor completed it"
        }
        if isCancelled, present.contains(where: { !$0.isCompleted && !$0.isCancelled }) {
            return
                "the loader did not pass its cancel on: work for a task with `makeAttempt`, whose cancel follows, or "
                + "cancel your own task in a cancel handler"
        }
        if timers.pendingCount > 0, isCancelled {
            return "the loader holds it until a time, and does not complete it when it is cancelled: add a cancel "
                + "handler that does"
        }
        return "the loader after it has completed its task, and the loader has not completed the caller's: do so in a "
            + "completion handler, whatever the result is"
    }

    // MARK: The end

    /// Ends the stage, and checks that nothing is left.
    func end() {
        startClock()
        endWhatWasLeft()
        guard !isOver else { return }
        guard wait(until: { timers.pendingCount == 0 }) else {
            return noteVainWait(
                "\(timers.pendingCount) timers were left waiting, and the loader did not come to rest",
                "a loader without tasks must wait for nothing; cancel a timer when its task ends")
        }
        call("The loader's `deinit`") { releaseChains() }
        for (name, object) in state.withLock({ $0.remains }) {
            guard !waitUntilGone(object) else { continue }
            return noteVainWait(
                "\(name) was not released",
                "something refers to it when no task is left; look for closures that capture `self` or a task, and for "
                    + "tasks that are kept")
        }
    }

    /// Waits until an object is gone, which another thread may be about to release; there is no event, so this looks again, at first often.
    func waitUntilGone(_ object: WeakReference) -> Bool {
        var looks = 0
        return patience.wait(until: { self.isOver || object.object == nil }) { deadline in
            looks += 1
            guard looks > 100 else { return SystemThread.yield() }
            _ = signal.wait(after: signal.events, until: min(deadline, .now() + .milliseconds(1)))
        }
    }

    /// Answers the tasks that are still at the terminal, since a real transport also stops sooner or later.
    ///
    /// Only a loader that may leave its work to others gives up such a task, or a task whose deadline has come. It stays alive
    /// until that task has ended.
    private func endWhatWasLeft() {
        let mayBeLeft = { @Sendable [check] (task: HTTPTask) in
            check.mayLeaveCancelledTasks || task.request.deadline?.hasPassed ?? false
        }
        for terminal in state.withLock(\.terminals) {
            terminal.end(answering: mayBeLeft)
            var isEmpty = false
            while !isEmpty, wait(until: { terminal.held.isEmpty || terminal.held.contains(where: mayBeLeft) }) {
                // A task may arrive or end after each look, so only what was seen to be empty is.
                if let task = terminal.held.first(where: mayBeLeft) {
                    answer(task, at: terminal)
                } else {
                    isEmpty = terminal.held.isEmpty
                }
            }
            guard !isEmpty else { continue }
            noteVainWait(
                "a task that the loader had passed on did not end",
                "the loader completed its own task, and forgot the task that it had passed on for it; cancel that "
                    + "one, or work with `makeAttempt`, which does so")
        }
    }

    /// Ends all tasks after a violation, so that a loader that can still end does.
    func letGo() {
        for probe in state.withLock({ $0.loaded }) { probe.cancel() }
        for terminal in state.withLock({ $0.terminals }) {
            for task in terminal.held {
                task.cancel()
                terminal.give(to: task)
            }
        }
        // Here, because the thread that releases the stage waits for nothing.
        releaseChains()
    }

    /// Releases the chains after unlocking, since that runs the loaders' own code.
    private func releaseChains() {
        _ = state.withLock { (replace(&$0.chains, with: []), replace(&$0.terminals, with: [])) }
    }

    /// Notes that the call under way does not return, so that all waits of the part end.
    func noteBlockedCall(_ name: String) {
        noteVainWait(
            "\(name) did not return",
            "it blocks the thread that called it. Keep the task instead of waiting, and go on in a handler or a timer")
    }
}
