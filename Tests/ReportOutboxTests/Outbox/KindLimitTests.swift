import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// A server limits some kinds of reports for some time.
@Suite(.timeLimit(.minutes(10))) struct KindLimitTests {
    private let limited: HTTPHeaders = ["X-Sentry-Rate-Limits": "600:session;replay:key", "Retry-After": "5000"]

    private func submit(_ id: String, _ kind: String, to test: TestOutbox, priority: ReportPriority = .normal) throws {
        try test.outbox.submit(bytes(10), identifier: id, request: upload, priority: priority, kind: ReportKind(kind))
        test.outbox.drain()
    }

    @Test(arguments: [HTTPStatus.tooManyRequests, .ok])
    func limitedKindWaitsWhileOtherKindsAreSent(_ status: HTTPStatus) throws {
        let test = try TestOutbox(FakeServer(first: [.status(status, limited)]))
        try submit("s1", "session", to: test)
        // A report of a limited kind waits even with a high priority, and blocks nothing after it.
        try submit("s2", "session", to: test, priority: .high)
        try submit("r1", "replay", to: test, priority: .high)
        try submit("c1", "crash", to: test, priority: .high)
        try submit("d1", "default", to: test)
        #expect(test.server.keys == ["s1", "c1", "d1"])
        test.advance(.seconds(599))
        #expect(test.server.keys == ["s1", "c1", "d1"])
        test.advance(.seconds(1))
        let waited = status == .ok ? ["r1", "s2"] : ["r1", "s1", "s2"]
        #expect(test.server.keys.dropFirst(3).sorted() == waited)
        #expect(test.outbox.count == 0)
    }

    @Test func limitWithoutKindAppliesToAllKinds() throws {
        let headers: HTTPHeaders = ["X-Sentry-Rate-Limits": "600::organization"]
        let test = try TestOutbox(FakeServer(first: [.status(.ok, headers)]))
        try submit("a", "crash", to: test)
        try submit("b", "session", to: test)
        test.advance(.seconds(599))
        #expect(test.server.keys == ["a"])
        test.advance(.seconds(1))
        #expect(test.server.keys == ["a", "b"])
    }

    @Test func limitDoesNotApplyToAnotherServer() throws {
        let test = try TestOutbox(FakeServer(first: [.status(.ok, limited)]))
        try submit("a", "session", to: test)
        let other = HTTPRequest(method: .put, host: "other.example.com", path: "/")
        try test.outbox.submit(bytes(10), identifier: "b", request: other, kind: ReportKind("session"))
        test.outbox.drain()
        #expect(test.server.keys == ["a", "b"])
    }

    @Test func sendNowIgnoresKindLimit() throws {
        let test = try TestOutbox(FakeServer(first: [.status(.ok, limited)]))
        try submit("a", "session", to: test)
        try submit("b", "session", to: test)
        test.outbox.sendNow()
        test.outbox.drain()
        #expect(test.server.keys == ["a", "b"])
    }

    @Test func limitIsCappedAtMaximumRetryAfter() throws {
        let headers: HTTPHeaders = ["X-Sentry-Rate-Limits": "99999999999999999999:crash,9223372036854775807:session"]
        let test = try TestOutbox(FakeServer(first: [.status(.ok, headers)])) { $0.maximumRetryAfter = .seconds(100) }
        try submit("a", "crash", to: test)
        try submit("b", "session", to: test)
        try submit("c", "crash", to: test)
        // An invalid number counts as a minute.
        test.advance(.seconds(60))
        #expect(test.server.keys == ["a", "c"])
        test.advance(.seconds(40))
        #expect(test.server.keys == ["a", "c", "b"])
    }

    @Test func limitsHeaderIsIgnoredIfSettingIsNil() throws {
        let test = try TestOutbox(FakeServer(first: [.status(.ok, limited)])) { $0.limitsHeader = nil }
        try submit("a", "session", to: test)
        try submit("b", "session", to: test)
        #expect(test.server.keys == ["a", "b"])
    }

    @Test func kindIsKeptAcrossLaunches() throws {
        let first = try TestOutbox(sends: false)
        try submit("a", "session", to: first)
        try submit("b", "a kind-of a very long name", to: first)
        first.disk.kill()
        first.outbox.abandon()
        first.disk.revive()
        let test = try TestOutbox(disk: first.disk, sends: false)
        #expect(test.outbox.reports.map(\.kind.name) == ["session", "a_kind_of_a_very"])
        #expect(test.disk.names.contains { $0.contains("-0=session-a.report") })
    }

    @Test func numberOfKindLimitsIsBounded() {
        var limits = KindLimits()
        let now = TimerInstant(nanoseconds: 0)
        for number in 0..<1_000 {
            limits.limit(ReportKind("kind\(number)"), until: now.advanced(by: .seconds(10)), now: now)
        }
        let count = (0..<1_000).count { limits.end(of: ReportKind("kind\($0)")) != nil }
        #expect(count == KindLimits.most)
        // Limits that have ended make way for others.
        let later = now.advanced(by: .seconds(10))
        limits.limit(ReportKind("another"), until: later.advanced(by: .seconds(1)), now: later)
        #expect(limits.end(of: ReportKind("another")) != nil && limits.end(of: ReportKind("kind0")) == nil)
    }

    @Test(
        arguments: [
            ("60:error:key", 0, ["error": 60]), ("60::key", 60, [:]), ("60", 60, [:]), ("", 0, [:]), (":::", 60, [:]),
            ("60:a;b:key, 70:b:key,5", 5, ["a": 60, "b": 70]), ("x:a", 0, ["a": 60]), ("-5:a", 0, ["a": 0]),
            (" 60 : a ; b ", 0, ["a": 60, "b": 60]), ("60:log-item:key:quota:ns", 0, ["log_item": 60]),
        ] as [(String, Int, [String: Int])])
    func serverLimitsAreParsedFromHeader(_ text: String, _ all: Int, _ kinds: [String: Int]) throws {
        let response = HTTPResponse(request: upload, status: .ok, headers: ["L": text])
        let limits = try #require(ServerLimits(response, header: "L", maximum: .seconds(1_000)))
        #expect(limits.all == .seconds(all))
        #expect(
            limits.kinds
                == [ReportKind: Duration](
                    uniqueKeysWithValues: kinds.map { (ReportKind($0.key), .seconds($0.value)) }))
        #expect(ServerLimits(response, header: "M", maximum: .seconds(1)) == nil)
    }

    @Test func serverLimitsOfRandomHeaderAreBounded() throws {
        var random = SeededGenerator(seed: 18)
        for _ in 0..<200 {
            let characters = Array("0123456789:;, abc\u{00E9}-")
            let text = String((0..<2_000).map { _ in characters[Int.random(in: 0..<characters.count, using: &random)] })
            let response = HTTPResponse(request: upload, status: .ok, headers: ["L": text])
            let limits = try #require(ServerLimits(response, header: "L", maximum: .seconds(100)))
            #expect(limits.kinds.count <= KindLimits.most && limits.all <= .seconds(100))
            #expect(limits.kinds.values.allSatisfy { .zero ... .seconds(100) ~= $0 })
        }
    }
}
