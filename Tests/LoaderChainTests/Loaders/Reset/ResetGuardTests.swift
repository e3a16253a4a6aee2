import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResetGuardTests {
    private let guardian = ResetGuard()
    private let slow = SlowToReset()
    private let chain: HTTPLoader

    init() {
        chain = guardian --> slow --> ScriptedTerminal { _ in .success() }
    }

    @Test func tasksAreRefusedDuringReset() async {
        #expect(outcome() == "response")
        let log = EventLog()
        chain.reset { log.note("done") }
        #expect(outcome() == "resetInProgress")
        #expect(guardian.description.hasPrefix("ResetGuard(resets 1) --> "))
        slow.finish()
        await log.waitForEvents(1)
        #expect(outcome() == "response")
        #expect(guardian.description.hasPrefix("ResetGuard --> "))
    }

    @Test func errorNamesTheGuard() async {
        let log = EventLog()
        let group = DispatchGroup()
        chain.reset(with: group)
        group.notify(queue: .global()) { log.note("done") }
        let seen = Locked<HTTPResult?>(nil)
        chain.load(request: .sample) { result in seen.withLock { $0 = result } }
        #expect(seen.withLock { $0?.error?.loader } == "ResetGuard")
        #expect(log.events.isEmpty)
        slow.finish()
        await log.waitForEvents(1)
    }

    @Test func secondResetJoinsTheFirst() async {
        let log = EventLog()
        chain.reset { log.note("first") }
        chain.reset { log.note("second") }
        #expect(log.events.isEmpty)
        #expect(outcome() == "resetInProgress")
        slow.finish()
        await log.waitForEvents(2)
        #expect(outcome() == "response")
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func guardOpensAfterLastOverlappingReset(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let guardian = ResetGuard()
        let chain = guardian --> ScriptedTerminal { _ in .success() }
        var running: [DispatchGroup] = []
        for step in 0..<100 {
            if running.isEmpty || (running.count < 5 && random.next(upperBound: 2 as UInt64) == 0) {
                let group = DispatchGroup()
                group.enter()
                chain.reset(with: group)
                running.append(group)
            } else {
                running.remove(at: Int(random.next(upperBound: UInt64(running.count)))).leave()
            }
            // At once: nothing has to happen on another thread before it opens.
            let expected = running.isEmpty ? "response" : "resetInProgress"
            #expect(outcome(of: chain) == expected, "seed \(seed), step \(step)")
        }
        for group in running { group.leave() }
    }

    @Test func loadRightAfterAwaitedResetSucceeds() async throws {
        let chain = ResetGuard() --> ScriptedTerminal { _ in .success() }
        for _ in 0..<500 {
            await chain.reset()
            _ = try await chain.load(.sample)
        }
    }

    @Test func guardOpensWhileMainThreadIsBlocked() async {
        let chain = ResetGuard() --> ScriptedTerminal { _ in .success() }
        let (blocked, done) = (EventLog(), EventLog())
        let isOver = DispatchSemaphore(value: 0)
        let main = Task {
            await MainActor.run {
                blocked.note("")
                isOver.wait()
            }
        }
        await blocked.waitForEvents(1)
        chain.reset { done.note("done") }
        await done.waitForEvents(1)
        #expect(done.events == ["done"])
        #expect(outcome(of: chain) == "response")
        isOver.signal()
        await main.value
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { _ in ResetGuard() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    private func outcome() -> String? { outcome(of: chain) }

    private func outcome(of chain: HTTPLoader) -> String? {
        let log = EventLog()
        chain.load(request: .sample) { log.note($0.summary) }
        return log.events.first
    }
}
