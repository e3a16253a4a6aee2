import DurableFilesTesting
import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// Nothing is sent before the user has agreed, and nothing is left once the user has not.
@Suite(.timeLimit(.minutes(10))) struct ConsentTests {
    @Test func withoutAnAnswerReportsAreHeldAndSentAfterIt() throws {
        let test = try TestBox { $0.consent = .pending }
        for id in ["a", "b"] { try test.submit(id) }
        test.advance(.seconds(30 * 24 * 3600))
        #expect(test.server.keys == [] && test.box.count == 2 && test.box.consent == .pending)
        test.box.setConsent(.given)
        test.box.drain()
        #expect(test.server.keys == ["a", "b"] && test.box.count == 0)
    }

    @Test func aNoDeletesEverythingAndTakesNothing() throws {
        let test = try TestBox(FakeServer(first: [.status(.badRequest)])) { $0.maximumInFlight = 1 }
        try test.submit("refused")
        #expect(test.box.reportsSetAside.count == 1)
        test.box.setConsent(.pending)
        for id in ["a", "b"] { try test.submit(id) }
        test.box.setConsent(.denied)
        #expect(test.box.count == 0 && test.box.reportsSetAside == [])
        #expect(test.disk.names == [])
        #expect(test.box.counters.dropped == ["without-consent": 3])
        let error = #expect(throws: OutboxError.self) { try test.submit("c") }
        #expect(error?.code == .consent)
        test.box.setConsent(.given)
        try test.submit("d")
        #expect(test.server.keys == ["refused", "d"])
    }

    @Test func aNoFromTheLastLaunchDeletesWhatIsLeft() throws {
        let first = try TestBox(sends: false)
        for id in ["a", "b"] { try first.submit(id) }
        first.disk.kill()
        first.box.abandon()
        first.disk.revive()
        let test = try TestBox(disk: first.disk) { $0.consent = .denied }
        #expect(test.box.count == 0 && test.disk.names == [] && test.server.keys == [])
        #expect(test.box.counters.dropped == ["without-consent": 2])
    }

    @Test(arguments: [ReportConsent.denied, .pending])
    func nothingIsSentAfterAListenerHasWithdrawnIt(_ answer: ReportConsent) throws {
        let server = FakeServer()
        let box = Locked<ReportOutbox?>(nil)
        let opened = try ReportOutbox(
            files: MemoryDirectory(), chain: server, settings: .test(), startsSending: false,
            onEvent: { if case .sending = $0 { box.withLock { $0 }?.setConsent(answer) } })
        box.withLock { $0 = opened }
        defer { box.withLock { $0 = nil } }
        try opened.submit(bytes(10), identifier: "a", request: upload)
        opened.startSending()
        opened.drain()
        #expect(server.keys == [])
        #expect(opened.reports.map(\.attempts) == (answer == .denied ? [] : [0]))
        #expect(opened.counters.dropped == (answer == .denied ? ["without-consent": 1] : [:]))
    }

    @Test(arguments: [ReportConsent.denied, .pending])
    func nothingIsSentThatIsWithdrawnWhileTheChainTakesIt(_ answer: ReportConsent) throws {
        let server = FakeServer()
        let first = Interruption()
        let box = try ReportOutbox(
            files: MemoryDirectory(), chain: first --> server, settings: .test(), startsSending: false)
        first.happens { [weak box] in box?.setConsent(answer) }
        try box.submit(bytes(10), identifier: "a", request: upload)
        box.startSending()
        box.drain()
        #expect(server.keys == [])
        #expect(box.reports.map(\.attempts) == (answer == .denied ? [] : [0]))
        #expect(box.counters.dropped == (answer == .denied ? ["without-consent": 1] : [:]))
    }

    @Test func whatWasSetAsideAndCouldNotBeRemovedIsRemovedLater() throws {
        let test = try TestBox(FakeServer(first: [.status(.badRequest)]))
        try test.submit("refused")
        #expect(test.box.reportsSetAside.count == 1)
        test.disk.cut(.failures(from: 0, code: 28))
        test.box.setConsent(.denied)
        test.box.drain()
        #expect(test.disk.names.count == 1)
        test.disk.cut(nil)
        test.advance(.seconds(60))
        #expect(test.disk.names == [])
    }

    @Test func whatIsBeingSentIsStopped() throws {
        let test = try TestBox(FakeServer { _, _ in .silence })
        try test.submit("a")
        test.box.setConsent(.pending)
        test.box.drain()
        #expect(test.box.reports.map(\.attempts) == [0] && test.box.reports.map(\.isBeingSent) == [false])
        test.box.setConsent(.given)
        test.advance(.seconds(60))
        #expect(test.box.reports.map(\.isBeingSent) == [true])
        test.box.setConsent(.denied)
        test.box.drain()
        #expect(test.box.count == 0 && test.disk.names == [])
        #expect(test.box.counters.dropped == ["without-consent": 1])
    }
}

/// A loader in which something happens before it passes a task on.
private final class Interruption: HTTPLoader, @unchecked Sendable {
    private let action = Locked<@Sendable () -> Void>({})

    func happens(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    override func load(task: HTTPTask) {
        action.withLock { $0 }()
        super.load(task: task)
    }
}
