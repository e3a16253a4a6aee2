import DurableFilesTesting
import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// Nothing is sent before the user has consented, and nothing is kept after a denial.
@Suite(.timeLimit(.minutes(10))) struct ConsentTests {
    @Test func reportsAreHeldUntilConsentIsGiven() throws {
        let test = try TestOutbox { $0.consent = .pending }
        for id in ["a", "b"] { try test.submit(id) }
        test.advance(.seconds(30 * 24 * 3600))
        #expect(test.server.keys == [] && test.outbox.count == 2 && test.outbox.consent == .pending)
        test.outbox.setConsent(.given)
        test.outbox.drain()
        #expect(test.server.keys == ["a", "b"] && test.outbox.count == 0)
    }

    @Test func deniedConsentDeletesReportsAndRejectsNewReports() throws {
        let test = try TestOutbox(FakeServer(first: [.status(.badRequest)])) { $0.maximumInFlight = 1 }
        try test.submit("refused")
        #expect(test.outbox.deadLetters.count == 1)
        test.outbox.setConsent(.pending)
        for id in ["a", "b"] { try test.submit(id) }
        test.outbox.setConsent(.denied)
        #expect(test.outbox.count == 0 && test.outbox.deadLetters == [])
        #expect(test.disk.names == [])
        #expect(test.outbox.counters.dropped == ["without-consent": 3])
        let error = #expect(throws: OutboxError.self) { try test.submit("c") }
        #expect(error?.code == .consent)
        test.outbox.setConsent(.given)
        try test.submit("d")
        #expect(test.server.keys == ["refused", "d"])
    }

    @Test func launchWithDeniedConsentDeletesStoredReports() throws {
        let first = try TestOutbox(sends: false)
        for id in ["a", "b"] { try first.submit(id) }
        first.disk.kill()
        first.outbox.abandon()
        first.disk.revive()
        let test = try TestOutbox(disk: first.disk) { $0.consent = .denied }
        #expect(test.outbox.count == 0 && test.disk.names == [] && test.server.keys == [])
        #expect(test.outbox.counters.dropped == ["without-consent": 2])
    }

    @Test(arguments: [ReportConsent.denied, .pending])
    func reportIsNotSentIfListenerWithdrawsConsent(_ answer: ReportConsent) throws {
        let server = FakeServer()
        let outbox = Locked<ReportOutbox?>(nil)
        let opened = try ReportOutbox(
            files: MemoryDirectory(), chain: server, settings: .test(), startsSending: false,
            onEvent: { if case .sending = $0 { outbox.withLock { $0 }?.setConsent(answer) } })
        outbox.withLock { $0 = opened }
        defer { outbox.withLock { $0 = nil } }
        try opened.submit(bytes(10), identifier: "a", request: upload)
        opened.startSending()
        opened.drain()
        #expect(server.keys == [])
        #expect(opened.reports.map(\.attempts) == (answer == .denied ? [] : [0]))
        #expect(opened.counters.dropped == (answer == .denied ? ["without-consent": 1] : [:]))
    }

    @Test(arguments: [ReportConsent.denied, .pending])
    func reportIsNotSentIfConsentIsWithdrawnInsideTheChain(_ answer: ReportConsent) throws {
        let server = FakeServer()
        let first = Interruption()
        let outbox = try ReportOutbox(
            files: MemoryDirectory(), chain: first --> server, settings: .test(), startsSending: false)
        first.happens { [weak outbox] in outbox?.setConsent(answer) }
        try outbox.submit(bytes(10), identifier: "a", request: upload)
        outbox.startSending()
        outbox.drain()
        #expect(server.keys == [])
        #expect(outbox.reports.map(\.attempts) == (answer == .denied ? [] : [0]))
        #expect(outbox.counters.dropped == (answer == .denied ? ["without-consent": 1] : [:]))
    }

    @Test func failedDeletionOfDeadLetterIsRetried() throws {
        let test = try TestOutbox(FakeServer(first: [.status(.badRequest)]))
        try test.submit("refused")
        #expect(test.outbox.deadLetters.count == 1)
        test.disk.cut(.failures(from: 0, code: 28))
        test.outbox.setConsent(.denied)
        test.outbox.drain()
        #expect(test.disk.names.count == 1)
        test.disk.cut(nil)
        test.advance(.seconds(60))
        #expect(test.disk.names == [])
    }

    @Test func runningAttemptStopsWhenConsentIsWithdrawn() throws {
        let test = try TestOutbox(FakeServer { _, _ in .silence })
        try test.submit("a")
        test.outbox.setConsent(.pending)
        test.outbox.drain()
        #expect(test.outbox.reports.map(\.attempts) == [0] && test.outbox.reports.map(\.isBeingSent) == [false])
        test.outbox.setConsent(.given)
        test.advance(.seconds(60))
        #expect(test.outbox.reports.map(\.isBeingSent) == [true])
        test.outbox.setConsent(.denied)
        test.outbox.drain()
        #expect(test.outbox.count == 0 && test.disk.names == [])
        #expect(test.outbox.counters.dropped == ["without-consent": 1])
    }

    @Test func attemptThatStopsSomeTimeAfterDenialLeavesNoTimer() throws {
        let (timers, terminal) = (ManualTimers(), ScriptedTerminal(onCancel: .waits))
        let outbox = try ReportOutbox(files: MemoryDirectory(), chain: terminal, settings: .test(timers))
        try outbox.submit(bytes(1), identifier: "a", request: upload)
        outbox.drain()
        let held = try #require(terminal.held.first)
        outbox.setConsent(.denied)
        outbox.drain()
        terminal.answer(held)
        outbox.drain()
        #expect(outbox.count == 0 && timers.pendingCount == 0)
    }

    /// A denial is not taken back, however soon a consent follows.
    @Test func reportOnItsWayLeavesAfterDenialAlthoughConsentFollows() throws {
        let test = try TestOutbox(FakeServer { _, _ in .silence })
        try test.submit("a")
        test.outbox.drain()
        #expect(test.outbox.reports.map(\.isBeingSent) == [true])
        // What has ended is handled on the same queue, so after both.
        test.outbox.engine.enqueue {
            test.outbox.setConsent(.denied)
            test.outbox.setConsent(.given)
        }
        test.outbox.drain()
        #expect(test.outbox.count == 0 && test.disk.names == [])
        #expect(test.outbox.counters.dropped == ["without-consent": 1])
    }
}

/// A loader that runs a hook before it passes a task on.
private final class Interruption: HTTPLoader, @unchecked Sendable {
    private let action = Locked<@Sendable () -> Void>({})

    func happens(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    override func load(task: HTTPTask) {
        action.withLock { $0 }()
        super.load(task: task)
    }
}
