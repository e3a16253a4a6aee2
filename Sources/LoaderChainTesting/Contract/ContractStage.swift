import LoaderChain
import Synchronization

/// A loader under check, in front of a terminal, with everything that is needed to observe it.
final class ContractStage: Sendable {
    let timers = ManualTimers()
    let check: ContractCheck
    /// The threads on which the loader is called.
    let threads = CallThreads()
    private let violations = Locked<[String]>([])
    private let remains = Locked<[(name: String, object: WeakReference)]>([])
    private let terminals = Locked<[ScriptedTerminal]>([])
    private let clock = Locked<Task<Void, Never>?>(nil)
    private let progress = Atomic(0)
    private let waitedInVain = Atomic(false)

    init(_ check: ContractCheck) {
        self.check = check
        startClock()
    }

    // MARK: Time

    /// Advances the clock whenever something waits for it.
    func startClock() {
        let clock = Task(executorPreference: threads) { [timers] in
            while !Task.isCancelled {
                await timers.waitForPending(count: 1)
                timers.advanceToNext()
                // Timers that schedule each other would keep all other work from this thread.
                await Task.yield()
            }
        }
        self.clock.withLock { $0 = clock }
    }

    /// Stops the clock; everything that was due has run.
    func stopClock() async {
        let clock = clock.withLock { replace(&$0, with: nil) }
        clock?.cancel()
        await clock?.value
    }

    // MARK: The chain

    /// Makes a new loader of the kind that is checked, linked to `terminal`.
    func chain(to terminal: HTTPLoader) -> HTTPLoader {
        let loader = check.make(timers)
        watch(loader, "the loader")
        watch(terminal, "the loader after it")
        if let terminal = terminal as? ScriptedTerminal { terminals.withLock { $0.append(terminal) } }
        return loader --> terminal
    }

    /// Notes a violation unless `condition` holds.
    func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        guard !condition else { return }
        let sentence = sentence()
        violations.withLock { $0.append(sentence) }
    }

    /// Records an object that must be gone when the stage ends.
    func watch(_ object: AnyObject, _ name: String) {
        let reference = WeakReference(object)
        remains.withLock { $0.append((name, reference)) }
    }

    /// A valid request.
    func request(_ path: String = "/") -> HTTPRequest {
        HTTPRequest(method: .get, host: "contract.test", path: path)
    }

    // MARK: Waiting

    /// The number of waits and actions so far; it does not change while a call blocks.
    var steps: Int { progress.load(ordering: .relaxed) }

    /// How long to wait for each event.
    ///
    /// After one wait in vain it is zero, since later failures follow from the first.
    private var patience: Duration { waitedInVain.load(ordering: .relaxed) ? .zero : check.patience }

    /// Notes a violation unless the awaited event `happened`.
    func expect(_ happened: Bool, inTime sentence: @autoclosure () -> String) {
        progress.wrappingAdd(1, ordering: .relaxed)
        expect(happened, "\(sentence()) within \(check.patience)")
        if !happened { waitedInVain.store(true, ordering: .relaxed) }
    }

    /// Makes a probe for the result of a task.
    func probe() -> TaskProbe { TaskProbe { [weak self] in self?.patience ?? .zero } }

    /// Loads a request, and returns a probe for its result.
    func load(_ path: String = "/", with chain: HTTPLoader) -> TaskProbe {
        let probe = probe()
        probe.task = WeakReference(chain.load(request: request(path)) { probe.complete($0) })
        progress.wrappingAdd(1, ordering: .relaxed)
        return probe
    }

    /// Awaits a probe's result; notes a violation if there is none or more than one.
    @discardableResult
    func result(of probe: TaskProbe, _ what: String = "a task") async -> HTTPResult? {
        let result = await probe.result()
        expect(result != nil, inTime: "\(what) did not complete")
        expect(probe.completions <= 1, "\(what) completed \(probe.completions) times")
        return result
    }

    /// Resets a chain; notes a violation if that does not finish.
    func reset(_ chain: HTTPLoader, _ what: String = "a reset") async {
        let probe = probe()
        chain.reset { probe.complete(nil) }
        await end(of: probe, what)
    }

    /// Awaits the end of a probe that has no result.
    func end(of probe: TaskProbe, _ what: String) async {
        expect(await probe.isOver(), inTime: "\(what) did not finish")
    }

    // MARK: The end

    /// The violations so far.
    var found: [String] { violations.withLock { $0 } }

    /// Ends the stage, and checks that nothing is left.
    func end() async {
        await answerWhatWasLeft()
        await stopClock()
        expect(timers.pendingCount == 0, "\(timers.pendingCount) timers were left waiting")
        for (name, object) in remains.withLock({ $0 }) {
            expect(await object.isGone(within: patience), inTime: "\(name) was not released")
        }
    }

    /// Notes that a call blocks, for a part that will not end.
    func noteBlockedCall() {
        clock.withLock { replace(&$0, with: nil) }?.cancel()
        expect(false, inTime: "a call of the loader, of a handler or of a timer did not return")
    }

    /// Responds to the tasks that are still at the terminal, since a real transport also stops sooner or later.
    ///
    /// Only a loader that may leave its work to others gives up such a task. It stays alive until that task has ended.
    private func answerWhatWasLeft() async {
        for terminal in terminals.withLock({ replace(&$0, with: []) }) {
            if check.mayLeaveCancelledTasks { for task in terminal.held { terminal.answer(task) } }
            let isEmpty = await holds(within: patience) { terminal.held.isEmpty }
            expect(isEmpty, inTime: "a task that had reached the loader after it did not end")
        }
    }
}

/// A weak reference to an object.
final class WeakReference: @unchecked Sendable {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }

    /// Waits until the object is gone: another thread may be about to release the last reference.
    func isGone(within patience: Duration) async -> Bool {
        await holds(within: patience) { object == nil }
    }
}

/// Waits until `condition` holds; false if it does not in time.
private func holds(within patience: Duration, _ condition: () -> Bool) async -> Bool {
    do {
        try await eventually("it holds", within: patience, condition)
        return true
    } catch {
        return false
    }
}
