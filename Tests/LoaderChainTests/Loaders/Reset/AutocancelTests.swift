import Dispatch
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct AutocancelTests {
    private let terminal = ScriptedTerminal(onCancel: .waits)
    private let passing = PassingReset()
    private let log = EventLog()
    private let chain: HTTPLoader

    init() {
        // The terminal's own reset is kept away from it, so that only the loader under test can have cancelled anything.
        chain = Autocancel() --> passing
        passing.terminal = terminal
    }

    @Test func resetCancelsTasksInFlightAndWaitsForThem() async {
        let tasks = load(2)
        chain.reset { log.note("reset") }
        #expect(tasks.map(\.isCancelled) == [true, true])
        #expect(log.events.isEmpty)
        terminal.answer(tasks[0])
        #expect(log.events == ["cancelled"])
        terminal.answer(tasks[1])
        await log.waitForEvents(3)
        // The reset is over as soon as Autocancel has noted the end, a moment before the caller gets it.
        #expect(log.events.sorted() == ["cancelled", "cancelled", "reset"])
        #expect("\(chain)".hasPrefix("Autocancel(in flight 0)"))
    }

    @Test func resetWithoutTasksInFlightCancelsNothing() async {
        let tasks = load(1)
        terminal.answer(tasks[0])
        await chain.reset()
        #expect(log.events == ["response"])
    }

    @Test func taskArrivingDuringResetIsRefused() async {
        let tasks = load(1)
        chain.reset { log.note("reset") }
        chain.load(request: .sample) { log.note($0.summary) }
        #expect(log.events == ["resetInProgress"])
        #expect(terminal.requests.count == 1)
        terminal.answer(tasks[0])
        await log.waitForEvents(3)
        #expect(load(1).count == 1)
        terminal.answer(terminal.held[0])
        #expect(log.events.last == "response")
    }

    @Test func secondResetWaitsForTheSameTasks() async {
        let tasks = load(1)
        let groups = [DispatchGroup(), DispatchGroup()]
        for group in groups { chain.reset(with: group) }
        #expect(groups.map { $0.wait(timeout: .now()) } == [.timedOut, .timedOut])
        for group in groups { group.notify(queue: .global()) { [log] in log.note("reset") } }
        terminal.answer(tasks[0])
        // Awaited, because a thread that is blocked here may be one that the notifications need.
        await log.waitForEvents(3)
        #expect(log.events.sorted() == ["cancelled", "reset", "reset"])
    }

    @Test func abandonedTaskEndsTheReset() async {
        let tasks = load(1)
        chain.reset { log.note("reset") }
        terminal.forget(tasks[0])
        withExtendedLifetime(tasks) { #expect(log.events.isEmpty) }
        _ = consume tasks
        await log.waitForEvents(2)
        #expect(log.events.sorted() == ["cancelled", "reset"])
    }

    @Test func taskReleasedBelowIsReportedAsAbandoned() {
        chain.load(request: .sample) { log.note($0.summary) }
        terminal.forget(terminal.held[0])
        #expect(log.events == ["abandoned"])
        #expect("\(chain)".hasPrefix("Autocancel(in flight 0)"))
    }

    @Test func identicalRequestsAreSeparateTasks() async {
        let tasks = load(2)
        #expect("\(chain)".hasPrefix("Autocancel(in flight 2)"))
        terminal.answer(tasks[0])
        chain.reset { log.note("reset") }
        #expect(tasks.map(\.isCancelled) == [false, true])
        terminal.answer(tasks[1])
        await log.waitForEvents(3)
    }

    @Test func handlerOfCancelledTaskCanResetAndLoad() async {
        let other = log
        let chain = chain
        chain.load(request: .sample) { result in
            other.note(result.summary)
            chain.reset { other.note("inner reset") }
            chain.load(request: .sample) { other.note($0.summary) }
        }
        let held = terminal.held
        chain.reset { other.note("outer reset") }
        terminal.answer(held[0])
        await log.waitForEvents(3)
        // The task that the handler loaded was refused, or is in flight now and ends with another reset.
        terminal.answerAll()
        await log.waitForEvents(4)
        #expect(Set(log.events).isSuperset(of: ["cancelled", "inner reset", "outer reset"]))
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { _ in Autocancel() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func keepsTheContractBelowResetGuard() async {
        let violations = await ContractCheck(patience: .patient) { _ in ResetGuard() --> Autocancel() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    private func load(_ count: Int) -> [HTTPTask] {
        for _ in 0..<count { chain.load(request: .sample) { [log] in log.note($0.summary) } }
        return terminal.held
    }
}

/// Hands tasks to a terminal that it does not reset.
private final class PassingReset: HTTPLoader, @unchecked Sendable {
    weak var terminal: HTTPLoader?
    override func load(task: HTTPTask) { terminal?.load(task: task) }
}
