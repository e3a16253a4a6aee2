import Dispatch
import LoaderChain
import LoaderChainTesting
import Testing

/// The loaders of this package, all of which must pass the check.
private let loaders: [(name: String, make: @Sendable (ManualTimers) -> HTTPLoader)] = [
    ("HTTPLoader", { _ in HTTPLoader() }),
    ("AsyncLoader", { _ in AsyncLoader() }),
    ("ClosureLoader", { _ in ClosureLoader { try await $1($0) } }),
]

@Suite(.timeLimit(.minutes(10))) struct ContractCheckTests {
    @Test(arguments: loaders.map(\.name))
    func everyLoaderKeepsTheContract(name: String) async {
        for loader in loaders where loader.name == name {
            let violations = await ContractCheck(patience: .patient, loader.make).run()
            #expect(violations.isEmpty, "\(violations)")
        }
    }

    @Test(arguments: loaders.map(\.name), loaders.map(\.name))
    func everyPairKeepsTheContract(first: String, second: String) async {
        for upper in loaders where upper.name == first {
            for lower in loaders where lower.name == second {
                let violations = await ContractCheck(patience: .patient) { upper.make($0) --> lower.make($0) }.run()
                #expect(violations.isEmpty, "\(first) --> \(second): \(violations)")
            }
        }
    }

    // MARK: What it must find

    @Test func findsALoaderThatKeepsTasksForEver() async {
        final class Hoarding: HTTPLoader, @unchecked Sendable {
            private let kept = Locked<[HTTPTask]>([])
            override func load(task: HTTPTask) { kept.withLock { $0.append(task) } }
        }
        await expectViolation("did not complete") { _ in Hoarding() }
    }

    @Test func findsALoaderThatIsDeafToCancels() async {
        final class Deaf: HTTPLoader, @unchecked Sendable {
            override func load(task: HTTPTask) {
                let copy = HTTPTask(request: task.request)
                copy.addCompletionHandler { task.complete($0) }
                super.load(task: copy)
            }
        }
        await expectViolation("did not complete") { _ in Deaf() }
    }

    @Test func findsALoaderWhoseResetNeverFinishes() async {
        final class Stuck: HTTPLoader, @unchecked Sendable {
            override func reset(with group: DispatchGroup) { group.enter() }
        }
        await expectViolation("did not finish") { _ in Stuck() }
    }

    @Test func findsALoaderThatKeepsTheResetToItself() async {
        final class Selfish: HTTPLoader, @unchecked Sendable {
            override func reset(with group: DispatchGroup) {}
        }
        await expectViolation("it was reset 0 times") { _ in Selfish() }
    }

    @Test func findsALoaderThatIsNeverReleased() async {
        final class Cyclic: HTTPLoader, @unchecked Sendable {
            private let me = Locked<HTTPLoader?>(nil)
            override func load(task: HTTPTask) {
                me.withLock { $0 = self }
                super.load(task: task)
            }
        }
        await expectViolation("was not released") { _ in Cyclic() }
    }

    @Test func findsATimerThatIsLeft() async {
        final class Forgetting: HTTPLoader, @unchecked Sendable {
            private let timers: ManualTimers
            init(_ timers: ManualTimers) { self.timers = timers }
            override func load(task: HTTPTask) {
                timers.schedule(after: .seconds(1)) { [weak self] in self?.scheduleAgain() }
                super.load(task: task)
            }
            private func scheduleAgain() {
                timers.schedule(after: .seconds(1)) { [weak self] in self?.scheduleAgain() }
            }
        }
        // It always has a waiting timer, so a caller could never know that it is done.
        await expectViolation("timers were left waiting") { Forgetting($0) }
    }

    @Test func findsALoaderThatBlocksItsCaller() async {
        final class Blocking: HTTPLoader, @unchecked Sendable {
            static let isOver = DispatchSemaphore(value: 0)
            override func load(task: HTTPTask) {
                Self.isOver.wait()
                super.load(task: task)
            }
        }
        await expectViolation("did not return within 0.3 seconds") { _ in Blocking() }
        Blocking.isOver.signal()
    }

    @Test func saysInWhichPartItWaitedForWhatAndForHowLong() async {
        final class Stuck: HTTPLoader, @unchecked Sendable {
            static let held = Locked<[DispatchGroup]>([])
            override func reset(with group: DispatchGroup) {
                group.enter()
                Self.held.withLock { $0.append(group) }
            }
        }
        await expectViolation("A reset of an idle chain: a reset did not finish within 0.3 seconds") { _ in Stuck() }
        // The resets end after all, so that nothing of the chains is left.
        for group in Stuck.held.withLock({ replace(&$0, with: []) }) { group.leave() }
    }

    // MARK: What it must not mistake for a fault

    /// The loader completes each task at once, while its own task is still at the transport, which takes a while to stop.
    @Test func aLoaderMayLeaveItsWorkBeforeItsTaskIsSeenBelow() async {
        final class Leaving: HTTPLoader, @unchecked Sendable {
            override func load(task: HTTPTask) {
                let copy = HTTPTask(request: task.request)
                copy.addCompletionHandler { (_: HTTPResult) in withExtendedLifetime(self) {} }
                super.load(task: copy)
                copy.cancel()
                fail(task, .timedOut)
            }
        }
        let violations = await ContractCheck(patience: .patient, mayLeaveCancelledTasks: true) { _ in Leaving() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    private func expectViolation(
        _ sentence: String, _ make: @escaping @Sendable (ManualTimers) -> HTTPLoader
    ) async {
        let violations = await ContractCheck(patience: .milliseconds(300), make).run()
        #expect(violations.contains { $0.contains(sentence) }, "\(violations)")
    }
}
