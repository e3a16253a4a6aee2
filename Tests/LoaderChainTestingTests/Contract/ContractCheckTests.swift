import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation
import TestSizes
import Testing

@testable import LoaderChainTesting

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

    @Test func violationNamesPartAndWaitingTime() async {
        final class Stuck: HTTPLoader, @unchecked Sendable {
            static let held = Locked<[DispatchGroup]>([])
            override func reset(with group: DispatchGroup) {
                group.enter()
                Self.held.withLock { $0.append(group) }
            }
        }
        let violations = await ContractCheck(patience: .seconds(2)) { _ in Stuck() }.run()
        let sentence = "A reset of an idle chain: a reset did not finish within 2.0 seconds"
        #expect(violations.contains { $0.contains(sentence) }, "\(violations)")
        // The resets end after all, so that no part of the chains is left.
        for group in Stuck.held.withLock({ replace(&$0, with: []) }) { group.leave() }
    }

    /// The check releases the loader where it can wait for it, also after a part that has found something.
    @Test(arguments: [false, true]) func blockingDeinitDoesNotBlockCheck(_ dropsTasks: Bool) async {
        final class BlocksItsEnd: HTTPLoader, @unchecked Sendable {
            private let never: DispatchSemaphore
            private let dropsTasks: Bool
            init(_ never: DispatchSemaphore, _ dropsTasks: Bool) {
                self.never = never
                self.dropsTasks = dropsTasks
                super.init()
            }
            deinit { never.wait() }
            override func load(task: HTTPTask) { if !dropsTasks { super.load(task: task) } }
        }
        let never = DispatchSemaphore(value: 0)
        let violations = await ContractCheck(patience: .seconds(2)) { _ in BlocksItsEnd(never, dropsTasks) }.run()
        never.signal()
        let words = dropsTasks ? "released a task without completing it" : "The loader's `deinit` did not return within"
        #expect(violations.count == 1 && violations[0].hasPrefix("A terminal that answers at once: "), "\(violations)")
        #expect(violations.first?.contains(words) == true, "\(violations)")
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .milliseconds(99)])
    func patienceIsAtLeast100Milliseconds(_ patience: Duration) {
        #expect(ContractCheck(patience: patience) { _ in HTTPLoader() }.patience == .milliseconds(100))
    }

    // MARK: What it must not mistake for a fault

    /// The loader completes each task at once, while its own task is still at the transport, which takes a while to stop.
    @Test func loaderMayCompleteTaskBeforeItsOwnTaskStops() async {
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

    /// The deadline ends each task while its attempt is between the loader and the transport, where nobody waits for it.
    @Test func attemptMayArriveAfterDeadlineEndedItsTask() async {
        /// A body that makes the transport late; if it is not late enough, the test sees less, and does not fail.
        struct SlowBody: HTTPBody {
            func encode() throws -> HTTPBodyContent {
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(20))
                return .data(Data("slow".utf8))
            }
        }
        final class Preparing: HTTPLoader, @unchecked Sendable {
            override func load(task: HTTPTask) {
                DispatchQueue.global().async {
                    var request = task.request
                    request.body = SlowBody()
                    let attempt = task.makeAttempt(request)
                    attempt.addCompletionHandler { (result: HTTPResult) in
                        withExtendedLifetime(self) { _ = task.complete(result) }
                    }
                    super.load(task: attempt)
                }
            }
        }
        let violations = await ContractCheck(patience: .patient, tasks: 10) { timers in
            ModifyRequest { request in
                var request = request
                request.deadline = .after(.seconds(5), on: timers)
                return request
            } --> Preparing()
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
