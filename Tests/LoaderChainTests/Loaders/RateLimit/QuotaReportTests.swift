import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct QuotaReportTests {
    /// 27 November 2026, 12:00:00 GMT.
    private static let now = Date(timeIntervalSince1970: 1_795_780_800)

    private func reports(_ headers: HTTPHeaders) -> [QuotaReport] { QuotaReport.reports(in: headers, now: Self.now) }

    @Test func draft11IsReadWithItsPolicies() {
        let headers: HTTPHeaders = [
            "RateLimit-Policy": "\"burst\";q=100;w=60, \"day\";q=1000;w=86400;qu=\"content-bytes\";pk=:dXNlcg==:",
            "RateLimit": "\"burst\";r=50;t=30,\"day\";r=999;t=3600;pk=:dXNlcg==:",
        ]
        #expect(
            reports(headers) == [
                QuotaReport(
                    name: "burst", remaining: 50, limit: 100, timeLeft: .seconds(30), window: .seconds(60),
                    rounding: .seconds(1)),
                QuotaReport(
                    name: "day", partition: ":dXNlcg", unit: .cost, remaining: 999, limit: 1_000,
                    timeLeft: .seconds(3_600), window: .seconds(86_400), rounding: .seconds(1)),
            ])
    }

    @Test(arguments: [
        ("30", 30.0, 1.0), ("0", 0, 1), ("2.5", 2.5, 1e-3), ("1795780830", 30, 1), ("1795780830.25", 30.25, 1e-3),
        ("1795780830500", 30.5, 1e-3), ("30s", 30, 1e-3), ("1m30s", 90, 1e-3), ("1h0m1.5s", 3_601.5, 1e-3),
        ("20ms", 0.02, 1e-3),
        ("2026-11-27T12:00:30Z", 30, 1), ("2026-11-27T13:00:30+01:00", 30, 1),
        ("2026-11-27t11:30:30.500-00:30", 30.5, 1),
        ("Fri, 27 Nov 2026 12:00:30 GMT", 30, 1), (" 30 ", 30, 1),
    ])
    func resetIsReadInEveryForm(_ text: String, _ seconds: Double, _ rounding: Double) throws {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": text]
        let report = try #require(reports(headers).first)
        #expect(
            abs(report.timeLeft / .seconds(1) - seconds) < 1e-3 && report.rounding == .seconds(rounding), "\(report)")
    }

    @Test(arguments: [
        "-1", "", "x", "1e3", "99999999", "1795780799", "17957808300", "1795780830000000", "2026-11-27T11:59:59Z",
        "2027-11-27T12:00:30Z", "2026-02-30T12:00:30Z", "2026-11-27T12:00:30", "2026-11-28T12:00:30+24:00",
        "2026-11-27T13:00:30+00:60", "2026-11-27T12:00:30.1234567890Z", "40d", "1x", "1.2.3", "Fri, 27 Nov 2026", "٣٠",
    ])
    func absurdResetIsIgnored(_ text: String) {
        #expect(reports(["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": text]).isEmpty)
    }

    @Test(arguments: ["-1", "", "none", "99999999999999999999", "１"])
    func absurdRemainderIsIgnored(_ text: String) {
        #expect(reports(["X-RateLimit-Remaining": text, "X-RateLimit-Reset": "30"]).isEmpty)
    }

    @Test func instantIsComparedWithTheServersClock() throws {
        let headers: HTTPHeaders = [
            "Date": "Fri, 27 Nov 2026 10:00:00 GMT", "X-Rate-Limit-Remaining": "1", "X-Rate-Limit-Reset": "1795773630",
        ]
        #expect(try #require(reports(headers).first).timeLeft == .seconds(30))
    }

    @Test func quotasWithNamesAreToldApart() {
        let headers: HTTPHeaders = [
            "x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59",
            "x-ratelimit-reset-requests": "1s",
            "x-ratelimit-limit-tokens": "90000", "x-ratelimit-remaining-tokens": "89000",
            "x-ratelimit-reset-tokens": "6m0s",
            "anthropic-ratelimit-input-tokens-remaining": "7",
            "anthropic-ratelimit-input-tokens-reset": "2026-11-27T12:00:30Z",
            "X-RateLimit-Remaining-Hour": "5", "X-RateLimit-Resource": "core", "X-RateLimit-Used": "3",
        ]
        let reports = reports(headers)
        #expect(reports.map(\.name) == ["requests", "tokens", "input-tokens", "hour"])
        #expect(reports.map(\.unit) == [.requests, .cost, .cost, .requests])
        #expect(reports.map(\.remaining) == [59, 89_000, 7, 5])
        #expect(reports.map(\.timeLeft) == [.seconds(1), .seconds(360), .seconds(30), .seconds(3_600)])
        #expect(reports.allSatisfy { $0.partition == "core" })
    }

    @Test func concurrencyAndUnknownFieldsAreNoQuota() {
        let headers: HTTPHeaders = [
            "RateLimit-Policy": "\"c\";q=5;w=60;qu=\"concurrent-requests\"", "RateLimit": "\"c\";r=0;t=10",
            "X-RateLimit-Scope": "user", "RateLimited": "yes", "Accept-Ranges": "bytes",
        ]
        #expect(reports(headers).isEmpty)
    }

    /// Values that are damaged at random, and random bytes.
    @Test(arguments: 0..<10) func malformedHeadersNeitherTrapNorPauseTooLong(group: UInt64) {
        takeWalks(group: group) { seed in
            var random = SeededGenerator(seed: seed)
            var book = QuotaBook(.init(maximumPause: .seconds(60)), at: TimerInstant(nanoseconds: 0))
            var now = TimerInstant(nanoseconds: 0)
            for _ in 0..<3 {
                let dialect = QuotaDialect.allCases.randomElement(using: &random) ?? .draft11
                var headers = dialect.headers(
                    limit: 10, left: Int.random(in: 0...3, using: &random), reset: 30, now: Self.now)
                headers = HTTPHeaders(headers.map { .init($0.name, Self.damaged($0.value, &random)) })
                let reports = QuotaReport.reports(in: headers, now: Self.now)
                guard reports.count <= 8, reports.allSatisfy({ 0...1e15 ~= Double($0.remaining) }),
                    reports.allSatisfy({ 0...(31 * 86_400) ~= $0.timeLeft / .seconds(1) })
                else { return "\(headers): \(reports)" }
                let number = book.pass(1, at: now)
                book.note(
                    .init(
                        number: number, expectedCost: 1, cost: 1, wasSent: true, wasAnswered: true, reports: reports,
                        pause: RetryAfter.delay(
                            of: HTTPResponse(
                                request: .sample, status: .tooManyRequests,
                                headers: ["Retry-After": Self.damaged("30", &random)]), now: Self.now)), at: now)
                let turn = book.turn(for: 1, at: now)
                guard turn <= now.advanced(by: .seconds(60)) else { return "\(headers): a pause until \(turn)" }
                now = now.advanced(by: .milliseconds(Int64.random(in: 0...40_000, using: &random)))
            }
            return nil
        }
    }

    private static func damaged(_ text: String, _ random: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            let piece =
                ["9999999999", "-", ";", "\"", "=", ",", ":", ".", "\\", "e9", " ", "\u{1F600}", "0", "t=", "\t"]
                .randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes.insert(contentsOf: piece.utf8, at: index)
            case 1: bytes.removeSubrange(min(index, bytes.count)..<min(bytes.count, index + 3))
            default:
                bytes += (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
