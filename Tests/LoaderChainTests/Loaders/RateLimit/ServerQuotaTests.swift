import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// A limit beside a server that counts requests, reports its quota and refuses.
@Suite(.timeLimit(.minutes(10))) final class ServerQuotaTests {
    let timers = ManualTimers()

    /// Lets those pass who still wait, which would keep their chain alive.
    deinit { timers.runAll() }

    @Test(arguments: QuotaDialect.allCases) func noRequestIsRefusedAndQuotaIsUsed(dialect: QuotaDialect) {
        let server = QuotaServer(dialect, limit: 120, window: 60, timers: timers)
        let limited = RateLimit([], perHost: true, serverQuotas: .init(), maximumWaiting: .max, timers: timers)
        let chain = limited --> server
        // Three requests a second, where two are allowed, for ten windows.
        for _ in 0..<1_800 {
            chain.load(request: .sample) { _ in }
            timers.advance(by: .seconds(1) / 3)
        }
        #expect(server.refused == 0, "\(dialect): \(server.refused) of \(server.counted)")
        #expect(server.counted >= 1_080, "\(dialect): \(server.counted) of 1,200")

        let plain = QuotaServer(dialect, limit: 120, window: 60, timers: timers)
        for _ in 0..<1_800 {
            plain.load(request: .sample) { _ in }
            timers.advance(by: .seconds(1) / 3)
        }
        #expect(plain.refused > 500, "\(dialect): \(plain.refused) without a limit")
    }

    @Test func halfOfQuotaPassesAtOnceAndRestEvenly() {
        let server = QuotaServer(.draft11, limit: 100, window: 100, timers: timers)
        let chain = RateLimit(timers: timers) --> server
        chain.load(request: .sample) { _ in }
        timers.advance(by: .milliseconds(200))
        for _ in 0..<200 { chain.load(request: .sample) { _ in } }
        timers.advance(by: .milliseconds(200))
        #expect((45...55).contains(server.counted), "\(server.counted)")
        timers.advance(by: .seconds(50))
        #expect((70...80).contains(server.counted), "\(server.counted)")
        timers.advance(by: .seconds(48))
        #expect((95...100).contains(server.counted) && server.refused == 0, "\(server.counted), \(server.refused)")
    }

    @Test func quotaIsForgottenIfServerStopsReporting() {
        let server = QuotaServer(.xInstant, limit: 10, window: 60, timers: timers)
        let limit = RateLimit(timers: timers)
        limit --> server
        for _ in 0..<10 { limit.load(request: .sample) { _ in } }
        timers.advance(by: .seconds(61))
        #expect(limit.waiting == 0)
        server.isSilent = true
        limit.load(request: .sample) { _ in }
        timers.advance(by: .seconds(1))
        for _ in 0..<100 { limit.load(request: .sample) { _ in } }
        #expect(limit.waiting == 0 && !limit.details.contains("left"), "\(limit.details)")
    }

    @Test func requestsWaitForRetryAfter() {
        for (header, value) in [("Retry-After", "30"), ("retry-after-ms", "30000"), ("x-amz-retry-after", "30000")] {
            let answers = Locked(0)
            let terminal = ScriptedTerminal { _ in
                answers.withLock { $0 += 1 }
                return .success(.tooManyRequests, headers: [header: value])
            }
            let chain = RateLimit(timers: timers) --> terminal
            for _ in 0..<2 { chain.load(request: .sample) { _ in } }
            timers.advance(by: .seconds(29))
            #expect(answers.withLock(\.self) == 1)
            timers.advance(by: .seconds(1))
            #expect(answers.withLock(\.self) == 2)
        }
    }

    /// The clock of the timers stops while the machine sleeps, and that of the server does not.
    @Test(arguments: [(10, 4), (0, 2)])
    func pauseGoesOnWhileMachineSleeps(_ maximumWaiting: Int, _ sent: Int) {
        let answers = Locked(0)
        let terminal = ScriptedTerminal { _ in
            let isFirst = answers.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst ? .success(.tooManyRequests, headers: ["Retry-After": "60"]) : .success(.ok)
        }
        let limit = RateLimit([], perHost: true, serverQuotas: .init(), maximumWaiting: maximumWaiting, timers: timers)
        limit --> terminal
        for _ in 0..<2 { limit.load(request: .sample) { _ in } }
        timers.stepDate(by: .seconds(57))
        limit.load(request: .sample) { _ in }
        #expect(answers.withLock(\.self) == 1)
        timers.stepDate(by: .seconds(4))
        limit.load(request: .sample) { _ in }
        #expect(answers.withLock(\.self) == sent && limit.waiting == 0)
    }

    /// A terminal whose answers have these fields, in turn and the last ones from then on, and the number of its answers.
    private func terminal(_ fields: HTTPHeaders...) -> (terminal: ScriptedTerminal, count: Locked<Int>) {
        let count = Locked(0)
        let terminal = ScriptedTerminal { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .success(.ok, headers: fields[min(number, fields.count) - 1])
        }
        return (terminal, count)
    }

    @Test func quotaGoesOnWhileMachineSleeps() {
        let (terminal, count) = terminal([
            "RateLimit": "\"day\";r=0;t=60", "RateLimit-Policy": "\"day\";q=10;w=60",
        ])
        let limit = RateLimit(timers: timers)
        limit --> terminal
        for _ in 0..<2 { limit.load(request: .sample) { _ in } }
        timers.stepDate(by: .seconds(50))
        limit.load(request: .sample) { _ in }
        #expect(count.withLock(\.self) == 1)
        timers.stepDate(by: .seconds(12))
        limit.load(request: .sample) { _ in }
        #expect(count.withLock(\.self) > 1)
    }

    @Test func quotaInStoredResponseIsIgnored() {
        let (terminal, count) = terminal(["RateLimit": "\"day\";r=0;t=30", "Age": "10"])
        let limit = RateLimit(timers: timers)
        limit --> terminal
        for _ in 0..<2 { limit.load(request: .sample) { _ in } }
        #expect(count.withLock(\.self) == 2)
    }

    /// What a cache answers costs the server nothing.
    @Test func storedResponseNeitherUsesNorEndsQuota() {
        let (terminal, count) = terminal(
            ["RateLimit": "\"day\";r=3;t=60", "RateLimit-Policy": "\"day\";q=3;w=60"], ["Age": "5"])
        let limit = RateLimit([], serverQuotas: .init(usableBurst: 1), timers: timers)
        limit --> terminal
        for _ in 0..<6 { limit.load(request: .sample) { _ in } }
        #expect(count.withLock(\.self) == 6)
    }

    /// The host that is asked, the one that responds, and whether the first is held up.
    static let redirects: [(String, String, Bool)] = [
        ("a.test", "b.test", false), ("a.test", "A.test", true), ("", "b.test", true),
    ]

    @Test(arguments: redirects)
    func serverOfRedirectDoesNotHoldUpTheOneThatRedirects(_ asked: String, _ sent: String, _ isHeldUp: Bool) {
        for headers in [["Retry-After": "30"], ["RateLimit": "\"day\";r=0;t=30"]] as [HTTPHeaders] {
            let terminal = RedirectingTerminal(to: sent, headers: headers)
            let limit = RateLimit(timers: timers)
            limit --> terminal
            for _ in 0..<2 { limit.load(request: HTTPRequest(host: asked)) { _ in } }
            #expect(terminal.requests == (isHeldUp ? 1 : 2) && limit.waiting == (isHeldUp ? 1 : 0), "\(headers)")
            timers.advance(by: .seconds(60))
            #expect(terminal.requests == 2 && limit.waiting == 0, "\(headers)")
        }
    }

    /// A server's date is compared with the server's clock, however wrong this machine's is.
    @Test(arguments: [-3_000, 3_000])
    func dateIsComparedWithTheDateOfTheResponse(_ step: Int) {
        let server = timers.date
        timers.stepDate(by: .seconds(step))
        let answers = Locked(0)
        let terminal = ScriptedTerminal { _ in
            answers.withLock { $0 += 1 }
            let headers: HTTPHeaders = [
                "Date": HTTPDate.text(server), "Retry-After": HTTPDate.text(server.addingTimeInterval(10)),
            ]
            return .success(.tooManyRequests, headers: headers)
        }
        let chain = RateLimit(timers: timers) --> terminal
        for _ in 0..<2 { chain.load(request: .sample) { _ in } }
        timers.advance(by: .seconds(9))
        #expect(answers.withLock(\.self) == 1)
        timers.advance(by: .seconds(1))
        #expect(answers.withLock(\.self) == 2)
    }

    @Test func deadlineBeforeEndOfPauseFailsAtOnce() {
        let terminal = ScriptedTerminal { _ in .success(.tooManyRequests, headers: ["Retry-After": "600"]) }
        let chain = RateLimit(timers: timers) --> terminal
        let log = EventLog()
        chain.load(request: .sample) { log.note($0.summary) }
        var request = HTTPRequest.sample
        request.deadline = .after(.seconds(30), on: timers)
        chain.load(request: request) { log.note($0.summary) }
        #expect(log.events == ["response", "deadlineExceeded"])
    }

    @Test func pauseIsNeverLongerThanTheMaximum() {
        let answers = Locked(0)
        let hostile: HTTPHeaders = ["Retry-After": "99999999", "RateLimit": "\"x\";r=0;t=2000000"]
        let terminal = ScriptedTerminal { _ in
            answers.withLock { $0 += 1 }
            return .success(.tooManyRequests, headers: hostile)
        }
        let limit = RateLimit([], serverQuotas: .init(maximumPause: .seconds(60)), timers: timers)
        limit --> terminal
        for _ in 0..<5 { limit.load(request: .sample) { _ in } }
        for expected in 1...5 {
            #expect(answers.withLock(\.self) == expected)
            timers.advance(by: .seconds(60))
        }
    }

    /// With the settings as they are.
    @Test func serverMayAskForAnHourAtMost() {
        let answers = Locked(0)
        let terminal = ScriptedTerminal { _ in
            answers.withLock { $0 += 1 }
            return .success(.tooManyRequests, headers: ["Retry-After": "99999999"])
        }
        let limit = RateLimit(timers: timers)
        limit --> terminal
        for _ in 0..<2 { limit.load(request: .sample) { _ in } }
        timers.advance(by: .seconds(3_599))
        #expect(answers.withLock(\.self) == 1)
        timers.advance(by: .seconds(1))
        #expect(answers.withLock(\.self) == 2)
    }

    @Test func requestPassesAfterResetOfQuotaWithoutLimit() {
        let terminal = ScriptedTerminal { _ in .success(headers: ["RateLimit": "\"day\";r=0;t=30"]) }
        let limit = RateLimit(timers: timers)
        limit --> terminal
        timers.advance(by: .milliseconds(1_200))
        for _ in 0..<2 { limit.load(request: .sample) { _ in } }
        timers.advance(by: .milliseconds(30_900))
        #expect(
            terminal.requests.count == 1 && limit.details == "per host, hosts 1, waiting 1, left example.com day 0 of 1"
        )
        timers.advance(by: .milliseconds(100))
        #expect(terminal.requests.count == 2 && limit.waiting == 0, "\(limit.details)")
    }

    @Test func quotaOfOneHostDoesNotHoldUpAnother() {
        let server = QuotaServer(.draft11, limit: 2, window: 60, timers: timers)
        let limit = RateLimit(timers: timers)
        limit --> server
        for host in ["a", "a", "b", "a", "b"] {
            limit.load(request: HTTPRequest(host: host)) { _ in }
            timers.advance(by: .seconds(1))
        }
        // The server counts both hosts together, and reports to each that little is left.
        #expect(limit.details.contains("hosts 2"))
    }

    @Test func deadlineBeforeResetFailsAtOnceWithOwnRate() {
        let limit = RateLimit([.init(cost: 100, per: .seconds(60), burst: 100)], timers: timers)
        let terminal = ScriptedTerminal { _ in .success() }
        limit --> terminal
        let log = EventLog()
        for (cost, deadline) in [(90, 1), (20, 5), (20, 7)] {
            var request = HTTPRequest.sample
            request.cost = cost
            request.deadline = .after(.seconds(deadline), on: timers)
            limit.load(request: request) { log.note("\(cost) \($0.summary)") }
        }
        #expect(log.events == ["90 response", "20 deadlineExceeded"])
        timers.advance(by: .seconds(6))
        #expect(log.events.last == "20 response")
    }

    @Test func actualCostCorrectsTheExpectedCost() {
        let limit = RateLimit(
            [.init(cost: 100, per: .seconds(100), burst: 100)],
            actualCost: { _, result in result.response?.headers["Used"].flatMap(Int.init) }, timers: timers)
        let used = Locked("100")
        let terminal = ScriptedTerminal { _ in
            .success(headers: ["Used": used.withLock(\.self)])
        }
        limit --> terminal
        limit.load(request: .sample) { _ in }
        limit.load(request: .sample) { _ in }
        #expect(terminal.requests.count == 1 && limit.waiting == 1)
        used.withLock { $0 = "0" }
        timers.advance(by: .seconds(1))
        #expect(terminal.requests.count == 2 && limit.waiting == 0)
    }

    @Test func costThatIsChangedBelowIsNotTheExpectedOne() {
        let limit = RateLimit(
            [.init(cost: 100, per: .seconds(100), burst: 100)], actualCost: { _, _ in 50 }, timers: timers)
        let terminal = ScriptedTerminal { _ in .success() }
        limit --> ModifyRequest { $0.cost = 90 } --> terminal
        var request = HTTPRequest.sample
        request.cost = 50
        for _ in 1...3 { limit.load(request: request) { _ in } }
        // As expected, so nothing is given back of what the first two have taken.
        #expect(terminal.requests.count == 2 && limit.waiting == 1)
    }

    @Test func prioritiesShareTheTurns() {
        let limit = RateLimit(requests: 10, per: .seconds(1), timers: timers)
        let terminal = ScriptedTerminal { _ in .success() }
        limit --> terminal
        for priority in [ThrottlePriority.low, .normal, .high] {
            for _ in 0..<300 {
                var request = HTTPRequest.sample
                request.priority = priority
                limit.load(request: request) { _ in }
            }
        }
        timers.advance(by: .seconds(18))
        let counts = ThrottlePriority.allCases.map { priority in
            terminal.requests.count { $0.priority == priority }
        }
        #expect(counts[2] > 130 && counts[1] >= 16 && counts[0] >= 16, "\(counts)")
    }

    @Test(arguments: QuotaDialect.allCases) func keepsTheContractWithQuotas(dialect: QuotaDialect) async {
        let violations = await ContractCheck(patience: .patient) {
            RateLimit([], perHost: true, serverQuotas: .init(), actualCost: { _, _ in 2 }, timers: $0)
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}

/// The form in which a server reports its quota.
enum QuotaDialect: CaseIterable, Sendable {
    case draft11, draft07, draft03, xSecondsLeft, xInstant, xMilliseconds, xDuration, xDate, named, vendor, otherVendor

    func headers(limit: Int, left: Int, reset: Double, now: Date) -> HTTPHeaders {
        let seconds = "\(Int(reset))"
        let instant = now.timeIntervalSince1970 + reset
        switch self {
        case .draft11:
            return [
                "RateLimit-Policy": "\"a\";q=\(limit);w=60;qu=\"requests\"",
                "RateLimit": "\"a\";r=\(left);t=\(seconds)",
            ]
        case .otherVendor:
            return [
                "Fastly-RateLimit-Limit": "\(limit)", "Fastly-RateLimit-Remaining": "\(left)",
                "Fastly-RateLimit-Reset": "\(Int(instant))",
            ]
        case .draft07: return ["RateLimit": "limit=\(limit), remaining=\(left), reset=\(seconds)"]
        case .draft03:
            return [
                "RateLimit-Limit": "\(limit), \(limit);w=60", "RateLimit-Remaining": "\(left)",
                "RateLimit-Reset": seconds,
            ]
        case .xSecondsLeft: return x(limit, left, seconds)
        case .xInstant: return x(limit, left, "\(Int(instant))")
        case .xMilliseconds: return x(limit, left, "\(Int(instant * 1_000))")
        case .xDuration: return x(limit, left, "\(Int(reset) / 60)m\(Int(reset * 1_000) % 60_000)ms")
        case .xDate: return x(limit, left, HTTPDate.text(Date(timeIntervalSince1970: instant)))
        case .named:
            return [
                "x-ratelimit-limit-requests": "\(limit)", "x-ratelimit-remaining-requests": "\(left)",
                "x-ratelimit-reset-requests": "\(Int(reset * 1_000))ms", "x-ratelimit-remaining-tokens": "100000",
                "x-ratelimit-limit-tokens": "100000", "x-ratelimit-reset-tokens": "1s",
            ]
        case .vendor:
            let date = Date(timeIntervalSince1970: instant).formatted(.iso8601)
            return [
                "anthropic-ratelimit-requests-limit": "\(limit)", "anthropic-ratelimit-requests-remaining": "\(left)",
                "anthropic-ratelimit-requests-reset": date,
            ]
        }
    }

    private func x(_ limit: Int, _ left: Int, _ reset: String) -> HTTPHeaders {
        ["X-RateLimit-Limit": "\(limit)", "X-RateLimit-Remaining": "\(left)", "X-RateLimit-Reset": reset]
    }
}

/// A terminal that is redirected to a host, which refuses everything.
private final class RedirectingTerminal: HTTPLoader, @unchecked Sendable {
    private let host: String
    private let headers: HTTPHeaders
    private let count = Locked(0)

    init(to host: String, headers: HTTPHeaders) { (self.host, self.headers) = (host, headers) }

    var requests: Int { count.withLock(\.self) }

    override var isTerminal: Bool { true }

    override func load(task: HTTPTask) {
        count.withLock { $0 += 1 }
        var request = task.request
        request.host = host
        task.complete(.success(HTTPResponse(request: request, status: .tooManyRequests, headers: headers)))
    }
}

/// A terminal that is a server some time away, which counts requests in windows and refuses those beyond its limit.
private final class QuotaServer: HTTPLoader, @unchecked Sendable {
    private let dialect: QuotaDialect
    private let limit: Int
    private let window: Double
    private let timers: ManualTimers
    private let start: TimerInstant
    private let state = Locked(
        (window: 0, left: 0, counted: 0, refused: 0, isSilent: false, random: SeededGenerator(seed: 1)))

    init(_ dialect: QuotaDialect, limit: Int, window: Double, timers: ManualTimers) {
        (self.dialect, self.limit, self.window, self.timers) = (dialect, limit, window, timers)
        start = timers.now
        super.init()
        state.withLock { $0.left = limit }
    }

    /// How many requests it has served.
    var counted: Int { state.withLock(\.counted) }
    var refused: Int { state.withLock(\.refused) }
    var isSilent: Bool {
        get { state.withLock(\.isSilent) }
        set { state.withLock { $0.isSilent = newValue } }
    }

    override var isTerminal: Bool { true }

    override func load(task: HTTPTask) {
        let (there, back) = state.withLock {
            (Int.random(in: 1...50, using: &$0.random), Int.random(in: 1...50, using: &$0.random))
        }
        timers.schedule(after: .milliseconds(there)) { [self] in
            let response = answer(task.request)
            timers.schedule(after: .milliseconds(back)) { task.complete(.success(response)) }
        }
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        let time = start.duration(to: timers.now) / .seconds(1)
        // An answer says of the window what it knows when it is made.
        return state.withLock { state in
            if Int(time / window) != state.window { (state.window, state.left) = (Int(time / window), limit) }
            let isServed = state.left > 0
            if isServed {
                (state.left, state.counted) = (state.left - 1, state.counted + 1)
            } else {
                state.refused += 1
            }
            let reset = Double(state.window + 1) * window - time
            let headers =
                state.isSilent
                ? [:] : dialect.headers(limit: limit, left: state.left, reset: reset, now: timers.date)
            return HTTPResponse(request: request, status: isServed ? .ok : .tooManyRequests, headers: headers)
        }
    }
}
