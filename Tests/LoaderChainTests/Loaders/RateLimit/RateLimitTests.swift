import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) final class RateLimitTests {
    let timers = ManualTimers()
    let log = EventLog()

    /// Lets those pass who still wait, which would keep their chain alive.
    deinit { timers.runAll() }

    private func chain(
        _ requests: Int = 10, burst: Int = 1, perHost: Bool = false, maximumWaiting: Int = 1_000
    ) -> (limit: RateLimit, terminal: ScriptedTerminal) {
        let limit = RateLimit(
            requests: requests, per: .seconds(1), burst: burst, perHost: perHost, maximumWaiting: maximumWaiting,
            timers: timers)
        let terminal = ScriptedTerminal { _ in .success() }
        limit --> terminal
        return (limit, terminal)
    }

    @discardableResult
    private func load(_ name: String, host: String = "example.com", with limit: RateLimit) -> HTTPTask {
        limit.load(request: HTTPRequest(host: host, path: "/\(name)")) { [log] in log.note("\(name) \($0.summary)") }
    }

    @Test func requestsPassInOrderAtEvenPace() {
        let (limit, terminal) = chain(burst: 2)
        for number in 0..<30 { load("\(number)", with: limit) }
        #expect(terminal.requests.count == 2 && limit.waiting == 28)
        for passed in 3...30 {
            timers.advance(by: .milliseconds(99))
            #expect(terminal.requests.count == passed - 1)
            timers.advance(by: .milliseconds(1))
            #expect(terminal.requests.count == passed)
        }
        #expect(terminal.requests.map(\.path) == (0..<30).map { "/\($0)" })
        #expect(timers.pendingCount == 0 && limit.waiting == 0)
    }

    @Test func earlyRequestIsRefusedWithoutQueue() throws {
        let (limit, terminal) = chain(maximumWaiting: 0)
        load("a", with: limit)
        timers.advance(by: .milliseconds(40))
        let seen = Locked<HTTPError?>(nil)
        limit.load(request: .sample) { result in seen.withLock { $0 = result.error } }
        let error = try #require(seen.withLock { $0 })
        #expect(error.code == .rateLimited && error.loader == "RateLimit")
        #expect(error.reason?.contains("\(Duration.milliseconds(60))") == true)
        timers.advance(by: .milliseconds(60))
        load("b", with: limit)
        #expect(terminal.requests.count == 2 && timers.pendingCount == 0)
    }

    @Test func requestsBeyondQueueMaximumAreRefused() {
        let (limit, _) = chain(maximumWaiting: 2)
        for number in 0..<5 { load("\(number)", with: limit) }
        #expect(log.events == ["0 response", "3 rateLimited", "4 rateLimited"])
        timers.runAll()
        #expect(log.events.suffix(2) == ["1 response", "2 response"])
    }

    /// Without `serverQuotas`, only its own rate counts.
    @Test func ownRateIgnoresRetryAfter() {
        let limit = RateLimit(requests: 10, per: .seconds(1), burst: 2, timers: timers)
        let terminal = ScriptedTerminal { _ in .success(.tooManyRequests, headers: ["Retry-After": "60"]) }
        limit --> terminal
        for number in 1...2 { load("\(number)", with: limit) }
        #expect(terminal.requests.count == 2 && limit.waiting == 0)
    }

    /// With the settings as they are.
    @Test func thousandRequestsMayWait() {
        let limit = RateLimit(requests: 1_000, per: .seconds(1), timers: timers)
        let terminal = ScriptedTerminal { _ in .success() }
        limit --> terminal
        for number in 0..<1_002 { load("\(number)", with: limit) }
        #expect(limit.waiting == 1_000 && log.events == ["0 response", "1001 rateLimited"])
    }

    @Test func taskThatWouldMissItsDeadlineFailsOnArrival() throws {
        let (limit, terminal) = chain()
        for (number, time) in [500, 500, 150, 200, 201].enumerated() {
            var request = HTTPRequest(host: "example.com", path: "/\(number)")
            request.deadline = .after(.milliseconds(time), on: timers)
            (limit as HTTPLoader).load(request: request) { [log] result in
                log.note("\(number) \(result.summary)\(result.error?.reason.map { ": " + $0 } ?? "")")
            }
        }
        let late = "deadlineExceeded: Its turn would come in 0.2 seconds, which is after its deadline"
        #expect(log.events == ["0 response", "2 \(late)", "3 \(late)"])
        timers.advance(by: .milliseconds(200))
        #expect(log.events.suffix(2) == ["1 response", "4 response"])
        #expect(terminal.requests.count == 3 && timers.pendingCount == 0)
    }

    @Test func waiterDelayedByNewRateFailsAtItsDeadline() {
        let (limit, terminal) = chain()
        load("0", with: limit)
        var request = HTTPRequest.sample
        request.deadline = .after(.milliseconds(150), on: timers)
        limit.load(request: request) { [log] in log.note("1 \($0.summary)") }
        limit.rates = [RateLimit.Rate(requests: 1, per: .seconds(1))]
        timers.advance(by: .milliseconds(150))
        #expect(log.events == ["0 response", "1 deadlineExceeded"])
        #expect(terminal.requests.count == 1 && timers.pendingCount == 0 && limit.waiting == 0)
    }

    @Test func cancelledWaiterLeavesWithoutTakingToken() {
        let (limit, terminal) = chain()
        let tasks = (0..<4).map { load("\($0)", with: limit) }
        tasks[1].cancel()
        tasks[3].cancel()
        #expect(log.events == ["0 response", "1 cancelled", "3 cancelled"])
        timers.advance(by: .milliseconds(100))
        #expect(log.events.last == "2 response")
        #expect(terminal.requests.count == 2 && timers.pendingCount == 0)
        load("4", with: limit)
        load("5", with: limit).cancel()
        #expect(log.events.last == "5 cancelled" && limit.waiting == 1)
    }

    @Test func waiterCompletedAboveLeavesTheQueue() {
        let (limit, _) = chain()
        load("0", with: limit)
        let task = HTTPTask(request: .sample)
        limit.load(task: task)
        load("2", with: limit)
        task.fail(.timedOut)
        #expect(limit.waiting == 1)
        // It gets the token of the one that has left.
        timers.advance(by: .milliseconds(100))
        #expect(log.events == ["0 response", "2 response"])
        #expect(limit.waiting == 0 && timers.pendingCount == 0)
    }

    @Test func passedOnTaskIsNotRetained() {
        let limit = RateLimit(requests: 10, per: .seconds(1), timers: timers)
        let terminal = ScriptedTerminal()
        limit --> terminal
        for number in 0..<2 { load("\(number)", with: limit) }
        timers.advance(by: .milliseconds(100))
        for task in terminal.held { terminal.forget(task) }
        #expect(log.events == ["0 abandoned", "1 abandoned"])
    }

    @Test func resetFailsWaitersAndKeepsPace() async {
        let (limit, terminal) = chain()
        for number in 0..<3 { load("\(number)", with: limit) }
        await limit.reset()
        #expect(log.events == ["0 response", "1 resetInProgress", "2 resetInProgress"])
        #expect(timers.pendingCount == 0)
        load("3", with: limit)
        #expect(terminal.requests.count == 1)
    }

    @Test func perHostLimitGivesEachHostItsOwnPace() {
        let (limit, terminal) = chain(perHost: true)
        for host in ["a", "b", "A", "b"] { load(host, host: host, with: limit) }
        #expect(terminal.requests.count == 2 && limit.waiting == 2)
        #expect("\(limit)".contains("hosts 2, waiting 2"))
        timers.advance(by: .milliseconds(100))
        #expect(terminal.requests.count == 4 && timers.pendingCount == 0)
    }

    @Test func portsOfOneHostAreLimitedSeparately() {
        let (limit, terminal) = chain(perHost: true)
        for port in [8080, 9090, 8080] { limit.load(request: HTTPRequest(host: "localhost", port: port)) { _ in } }
        #expect(terminal.requests.map(\.port) == [8080, 9090] && limit.waiting == 1)
    }

    @Test func throttleKeyCountsInsteadOfHost() {
        let (limit, terminal) = chain(perHost: true)
        for (host, key) in [("a", "search"), ("b", "search"), ("a", nil), ("c", "export")] as [(String, String?)] {
            var request = HTTPRequest(host: host)
            request.throttleKey = key
            limit.load(request: request) { _ in }
        }
        #expect(terminal.requests.map(\.host) == ["a", "a", "c"] && limit.waiting == 1)
        timers.advance(by: .milliseconds(100))
        #expect(terminal.requests.map(\.host) == ["a", "a", "c", "b"] && timers.pendingCount == 0)
    }

    /// A host with a long queue keeps no request to another one away.
    @Test func maximumWaitingAppliesToEachHost() {
        let (limit, _) = chain(perHost: true, maximumWaiting: 1)
        for (number, host) in ["a", "a", "a", "b", "b", "b"].enumerated() {
            load("\(number)", host: host, with: limit)
        }
        #expect(log.events == ["0 response", "2 rateLimited", "3 response", "5 rateLimited"] && limit.waiting == 2)
        timers.runAll()
        #expect(log.events.count == 6 && limit.waiting == 0)
    }

    @Test func lateEndDoesNotRemoveAnotherWaiter() {
        let limit = RateLimit(requests: 10, per: .seconds(1), perHost: true, timers: timers)
        let terminal = ScriptedTerminal()
        limit --> terminal
        for host in ["a", "a", "b"] { load(host, host: host, with: limit) }
        timers.advance(by: .milliseconds(100))
        // The second has passed, and another host's waiter takes its place.
        load("b", host: "b", with: limit)
        load("b", host: "b", with: limit)
        load("a", host: "a", with: limit)
        let waiting = limit.waiting
        terminal.answerAll()
        #expect(waiting == 2 && limit.waiting == 2)
        timers.runAll()
        terminal.answerAll()
        #expect(log.events.count == 6 && limit.waiting == 0)
    }

    @Test func idleHostsAreForgotten() {
        let (limit, terminal) = chain(perHost: true)
        for number in 0..<10_000 {
            load("", host: "host\(number)", with: limit)
            timers.advance(by: .milliseconds(10))
        }
        #expect(terminal.requests.count == 10_000)
        let hosts = limit.details.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }.max() ?? 0
        #expect(hosts <= 100, "\(limit.details)")
    }

    @Test func newRateAppliesToWaitingTasks() {
        let (limit, terminal) = chain(1)
        for number in 0..<4 { load("\(number)", with: limit) }
        timers.advance(by: .milliseconds(500))
        limit.rates = [RateLimit.Rate(requests: 10, per: .seconds(1))]
        // Half a token was there already, and the rest comes ten times as fast.
        timers.advance(by: .milliseconds(49))
        #expect(terminal.requests.count == 1)
        timers.advance(by: .milliseconds(1))
        #expect(terminal.requests.count == 2)
        limit.rates = [RateLimit.Rate(requests: 1, per: .seconds(100))]
        timers.advance(by: .seconds(99))
        #expect(terminal.requests.count == 2)
        timers.advance(by: .seconds(1))
        #expect(terminal.requests.count == 3)
        limit.rates = [RateLimit.Rate(requests: .max, per: .nanoseconds(1))]
        timers.advance(by: .nanoseconds(1))
        #expect(terminal.requests.count == 4 && timers.pendingCount == 0)
    }

    @Test func concurrentTasksAllComplete() async throws {
        let limit = RateLimit(requests: 1_000, per: .seconds(1), burst: 100, maximumWaiting: .max, timers: timers)
        let terminal = ScriptedTerminal { _ in .success() }
        limit --> terminal
        let ended = EventLog()
        try onThreads(4) { thread in
            for number in 0..<500 {
                let task = limit.load(request: .sample) { _ in ended.note("") }
                if number % 5 == thread { task.cancel() }
                if number % 100 == 50 {
                    limit.rates = [RateLimit.Rate(requests: 900 + number, per: .seconds(1), burst: 100)]
                }
            }
        }
        // No token was lost or used twice: time has not passed, and the bucket was full.
        #expect(terminal.requests.count == 100)
        timers.advance(by: .seconds(10))
        await ended.waitForEvents(2_000)
        #expect(limit.waiting == 0)
    }

    @Test(arguments: [(Int.max, Int.max, false), (100, .max, false), (100, 3, true), (5, 0, false)])
    func keepsTheContract(_ requests: Int, _ maximumWaiting: Int, _ perHost: Bool) async {
        let violations = await ContractCheck(patience: .patient) {
            RateLimit(
                requests: requests, per: .seconds(1), burst: 2, perHost: perHost, maximumWaiting: maximumWaiting,
                timers: $0)
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
