import Dispatch
import LoaderChain
import Testing

@testable import LoaderChainTesting

/// What a check itself is made of.
@Suite(.timeLimit(.minutes(10))) struct ContractStageTests {
    private let check = ContractCheck(patience: .seconds(60)) { _ in HTTPLoader() }

    // MARK: The terminal

    /// The end of a part sees a task among the held ones, or the task that arrives sees the end.
    @Test(arguments: [false, true]) func taskArrivingWhenPartEndsIsAnswered(_ isLate: Bool) {
        let ends = Locked<(() -> Void)?>(nil)
        let terminal = ContractTerminal(.holdsCancelled, ContractSignal()) { moment in
            // Here it has arrived, and has not looked yet whether the part ends.
            if moment == .load { ends.withLock(\.self)?() }
        }
        let end = { [weak terminal] in
            guard let terminal else { return }
            terminal.end { $0.request.path == "/left" }
            #expect(terminal.held.count == (isLate ? 0 : 1))
        }
        if isLate { end() } else { ends.withLock { $0 = end } }
        let left = HTTPTask(request: HTTPRequest(host: "contract.test", path: "/left"))
        terminal.load(task: left)
        #expect(left.isCompleted)
        let other = HTTPTask(request: HTTPRequest(host: "contract.test", path: "/other"))
        terminal.load(task: other)
        #expect(!other.isCompleted && terminal.held.count == 1)
        terminal.give(to: other)
        #expect(terminal.takenPaths.isEmpty)
    }

    @Test func endOfHeldTaskWakesPart() {
        let stage = ContractStage(check)
        let (chain, terminal) = stage.chain(to: .holds)
        let task = HTTPTask(request: stage.request())
        chain.load(task: task)
        let begin = ContinuousClock.now
        var looks = 0
        let isInTime = stage.wait(until: {
            let isEmpty = terminal.held.isEmpty
            looks += 1
            // Right before the part waits for an event.
            if looks == 2 { task.cancel() }
            return isEmpty
        })
        #expect(isInTime && ContinuousClock.now - begin < .seconds(30))
    }

    // MARK: Signals

    @Test func eventWakesEveryWaitingThread() throws {
        let (signal, woken) = (ContractSignal(), DispatchSemaphore(value: 0))
        let (threads, events) = (3, 1_000)
        for _ in 0..<threads {
            try SystemThread {
                for event in 0..<events where signal.wait(after: event, until: .now() + 60) { woken.signal() }
            }.detach()
        }
        for event in 0..<events {
            signal.raise()
            for _ in 0..<threads {
                try #require(woken.wait(timeout: .now() + 30) == .success, "event \(event)")
            }
        }
        #expect(!signal.wait(after: events, until: .now()))
    }

    // MARK: Threads

    private static let lack = "the system has no thread left for the check: pthread_create failed with error"

    @Test func checkReportsMissingThread() async {
        var check = check
        check.stackSize = 1 << 50
        let violations = await check.run()
        #expect(violations.count == 1 && violations[0].hasPrefix(Self.lack), "\(violations)")
    }

    @Test func partReportsMissingSecondThread() {
        var check = check
        check.stackSize = 1 << 50
        let stage = ContractStage(check)
        let returns = stage.returnsElsewhere {}
        // The loader is not to blame.
        #expect(returns)
        #expect(stage.isOver && stage.found.count == 1 && stage.found[0].hasPrefix(Self.lack), "\(stage.found)")
    }
}
