import Dispatch
import LoaderChain

/// A loader under check, before a terminal, with what is needed to see how it behaves.
final class ContractStage: Sendable {
    let timers = ManualTimers()
    let check: ContractCheck
    private let violations = Guarded<[String]>([])
    private let remains = Guarded<[(name: String, object: WeakReference)]>([])
    private let clock = Guarded<Task<Void, Never>?>(nil)

    init(_ check: ContractCheck) {
        self.check = check
        startClock()
    }

    // MARK: Time

    /// Lets time pass whenever something waits for it.
    func startClock() {
        let clock = Task { [timers] in
            while !Task.isCancelled {
                await timers.waitForPending(count: 1)
                timers.advanceToNext()
                // Timers that set each other would keep everybody else from this thread.
                await Task.yield()
            }
        }
        self.clock.withLock { $0 = clock }
    }

    /// Lets time stand still; what was due has happened.
    func stopClock() async {
        let clock = clock.withLock { exchange(&$0, with: nil) }
        clock?.cancel()
        await clock?.value
    }

    // MARK: The chain

    /// A new loader of the kind that is checked, linked to `terminal`.
    func chain(to terminal: HTTPLoader) -> HTTPLoader {
        let loader = check.make(timers)
        watch(loader, "the loader")
        watch(terminal, "the loader after it")
        return loader --> terminal
    }

    /// Notes a violation unless `condition` holds.
    func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        guard !condition else { return }
        let sentence = sentence()
        violations.withLock { $0.append(sentence) }
    }

    /// Notes something that must be gone when all is over.
    func watch(_ object: AnyObject, _ name: String) {
        let reference = WeakReference(object)
        remains.withLock { $0.append((name, reference)) }
    }

    /// A request, sendable as it is.
    func request(_ path: String = "/") -> HTTPRequest {
        HTTPRequest(method: .get, host: "contract.test", path: path)
    }

    /// Sees what comes of something.
    func probe() -> TaskProbe { TaskProbe(patience: check.patience) }

    /// Loads a request, and returns a probe that tells what came of it.
    func load(_ path: String = "/", with chain: HTTPLoader) -> TaskProbe {
        let probe = probe()
        probe.task = WeakReference(chain.load(request: request(path)) { probe.complete($0) })
        return probe
    }

    /// Awaits a probe's result; notes a violation if there is none or more than one.
    @discardableResult
    func result(of probe: TaskProbe, _ what: String = "a task") async -> HTTPResult? {
        let result = await probe.result()
        expect(result != nil, "\(what) never completed")
        expect(probe.completions <= 1, "\(what) completed \(probe.completions) times")
        return result
    }

    /// Resets a chain; notes a violation if that never finishes.
    func reset(_ chain: HTTPLoader, _ what: String = "a reset") async {
        let probe = probe()
        chain.reset { probe.complete(nil) }
        expect(await probe.isOver(), "\(what) never finished")
    }

    /// Ends the stage and returns the violations.
    func end() async -> [String] {
        await stopClock()
        expect(timers.pendingCount == 0, "\(timers.pendingCount) timers were left waiting")
        for (name, object) in remains.withLock({ $0 }) {
            expect(await object.isGone(within: check.patience), "\(name) was never released")
        }
        return violations.withLock { $0 }
    }
}

/// An object that is watched without being kept.
final class WeakReference: @unchecked Sendable {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }

    /// Waits until the object is gone: the last reference may be one that another thread is about to let go of.
    func isGone(within patience: Duration) async -> Bool {
        let deadline = ContinuousClock.now + patience
        while object != nil {
            guard ContinuousClock.now < deadline else { return false }
            await Task.yield()
        }
        return true
    }
}
