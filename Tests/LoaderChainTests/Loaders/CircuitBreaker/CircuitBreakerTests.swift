import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct CircuitBreakerTests {
    let timers = ManualTimers()
    let terminal = ScriptedTerminal()
    let log = EventLog()

    private func breaker(probes: Int = 1, perHost: Bool = false) -> CircuitBreaker {
        let settings = CircuitBreaker.Settings(
            minimumNumberOfCalls: 4, openDuration: .seconds(5), jitter: 0, probes: probes)
        let breaker = CircuitBreaker(
            settings, perHost: perHost, timers: timers,
            onChange: { [log] in log.note("\($0.host ?? "all") \($0.from) \($0.to)") })
        breaker --> terminal
        return breaker
    }

    private func load(_ host: String = "example.com", with breaker: CircuitBreaker) -> EventLog {
        let log = EventLog()
        breaker.load(request: HTTPRequest(host: host)) { log.note($0.summary) }
        return log
    }

    /// Calls until the circuit is open.
    private func trip(_ breaker: CircuitBreaker, _ host: String = "example.com") throws {
        for _ in 0..<4 {
            _ = load(host, with: breaker)
            terminal.refuse(try #require(terminal.held.first), .timedOut)
        }
    }

    @Test func openCircuitRefusesRequestsUntilProbeSucceeds() throws {
        let breaker = breaker()
        try trip(breaker)
        #expect(breaker.state() == .open)
        timers.advance(by: .milliseconds(1_800))

        let seen = Locked<HTTPError?>(nil)
        breaker.load(request: .sample) { result in seen.withLock { $0 = result.error } }
        let error = try #require(seen.withLock { $0 })
        #expect(error.code == .circuitOpen && error.loader == "CircuitBreaker")
        #expect(error.reason?.contains("\(Duration.milliseconds(3_200))") == true)
        #expect(terminal.requests.count == 4)

        timers.advance(by: .milliseconds(3_200))
        let probe = load(with: breaker)
        #expect(breaker.state() == .halfOpen)
        #expect(load(with: breaker).events == ["circuitOpen"])
        terminal.answer(try #require(terminal.held.first))
        #expect(probe.events == ["response"])
        #expect(log.events == ["all closed open", "all open halfOpen", "all halfOpen closed"])
        #expect("\(breaker)".contains("closed, failed 0 of 0"))
        #expect(timers.pendingCount == 0)
    }

    /// A probe may be a download of an hour, or a request that the server answers when something happens.
    @Test func probeThatLastsDoesNotKeepCircuitShut() throws {
        let breaker = breaker()
        try trip(breaker)
        timers.advance(by: .seconds(5))
        let long = load(with: breaker)
        timers.advance(by: .milliseconds(4_999))
        #expect(load(with: breaker).events == ["circuitOpen"])
        timers.advance(by: .milliseconds(1))
        let other = load(with: breaker)
        #expect(load(with: breaker).events == ["circuitOpen"])
        #expect(terminal.held.count == 2)
        terminal.answer(terminal.held[1])
        #expect(other.events == ["response"] && breaker.state() == .closed)
        terminal.answer(terminal.held[0])
        #expect(long.events == ["response"])
    }

    /// Without a pause between openings, only the probe that is under way keeps requests away.
    @Test func circuitThatIsOpenForNoTimePassesOneProbeAtOnce() throws {
        let settings = CircuitBreaker.Settings(minimumNumberOfCalls: 4, openDuration: .zero, jitter: 0)
        let breaker = CircuitBreaker(settings, perHost: false, timers: timers)
        breaker --> terminal
        try trip(breaker)
        for _ in 0..<3 { _ = load(with: breaker) }
        #expect(terminal.held.count == 1)
        terminal.answer(terminal.held[0])
    }

    @Test func fewerCallsThanMinimumDoNotOpenCircuit() throws {
        let breaker = breaker()
        for _ in 0..<10 {
            for _ in 0..<3 {
                _ = load(with: breaker)
                terminal.refuse(try #require(terminal.held.first), .timedOut)
            }
            timers.advance(by: .seconds(10))
        }
        #expect(breaker.state() == .closed)
    }

    @Test func failedProbeDoublesOpenDuration() throws {
        let breaker = breaker()
        try trip(breaker)
        timers.advance(by: .seconds(5))
        _ = load(with: breaker)
        terminal.refuse(try #require(terminal.held.first), .cannotConnect)
        timers.advance(by: .seconds(9))
        #expect(load(with: breaker).events == ["circuitOpen"])
        timers.advance(by: .seconds(1))
        #expect(load(with: breaker).events.isEmpty)
        #expect(log.events.suffix(3) == ["all open halfOpen", "all halfOpen open", "all open halfOpen"])
    }

    /// With the settings as they are: half of twenty calls, 5 to 6 seconds, twice as long each time, at most 72.
    @Test func usualCircuitOpensAfterTwentyCallsForFiveToSixSeconds() throws {
        let breaker = CircuitBreaker(timers: timers, random: RandomSource(seed: 3))
        breaker --> terminal
        func call(fails: Bool) throws {
            _ = load(with: breaker)
            let task = try #require(terminal.held.first)
            if fails { terminal.refuse(task, .timedOut) } else { terminal.answer(task) }
        }
        for number in 0..<19 { try call(fails: number >= 10) }
        #expect(breaker.state(of: "example.com") == .closed)
        try call(fails: true)
        #expect(breaker.state(of: "example.com") == .open)
        for seconds in [5, 10, 20, 40, 60, 60] {
            let shortest = Duration.seconds(seconds)
            timers.advance(by: shortest - .milliseconds(1))
            #expect(load(with: breaker).events == ["circuitOpen"], "\(seconds)")
            timers.advance(by: shortest / 5 + .milliseconds(2))
            // This is the probe.
            try call(fails: true)
        }
        #expect(breaker.state(of: "example.com") == .open && terminal.held.isEmpty)
    }

    /// Calls that began more than ten seconds ago count no more, with the settings as they are.
    @Test func usualWindowIsTenSeconds() throws {
        let breaker = CircuitBreaker(timers: timers, random: RandomSource(seed: 3))
        breaker --> terminal
        for number in 0..<38 {
            if number == 19 { timers.advance(by: .seconds(10)) }
            _ = load(with: breaker)
            terminal.refuse(try #require(terminal.held.first), .timedOut)
        }
        #expect(breaker.state(of: "example.com") == .closed)
    }

    @Test func cancelledProbeIsReplacedByAnother() throws {
        let breaker = breaker()
        try trip(breaker)
        timers.advance(by: .seconds(5))
        let task = breaker.load(request: .sample) { _ in }
        #expect(load(with: breaker).events == ["circuitOpen"])
        task.cancel()
        #expect(breaker.state() == .halfOpen)
        let second = load(with: breaker)
        #expect(second.events.isEmpty)
        terminal.answer(try #require(terminal.held.first))
        #expect(breaker.state() == .closed)
    }

    @Test func circuitClosesAfterAllProbesSucceed() throws {
        let breaker = breaker(probes: 3)
        try trip(breaker)
        timers.advance(by: .seconds(5))
        for _ in 0..<3 { _ = load(with: breaker) }
        #expect(load(with: breaker).events == ["circuitOpen"])
        for answered in 1...3 {
            #expect(breaker.state() == .halfOpen)
            terminal.answer(try #require(terminal.held.first))
            #expect(load(with: breaker).events.isEmpty == (answered == 3))
        }
        #expect(breaker.state() == .closed)
    }

    /// It is called under no lock.
    @Test func changeHandlerMayUseTheBreaker() throws {
        let (place, heard) = (Locked<CircuitBreaker?>(nil), EventLog())
        let settings = CircuitBreaker.Settings(minimumNumberOfCalls: 4, openDuration: .seconds(5), jitter: 0)
        let breaker = CircuitBreaker(
            settings, perHost: false, timers: timers,
            onChange: { change in
                place.withLock { $0 }?.load(request: .sample) { heard.note("\(change.to) \($0.summary)") }
            })
        breaker --> terminal
        place.withLock { $0 = breaker }
        try trip(breaker)
        #expect(heard.events == ["open circuitOpen"])
        timers.advance(by: .seconds(5))
        _ = load(with: breaker)
        #expect(heard.events == ["open circuitOpen", "halfOpen circuitOpen"])
        terminal.answer(try #require(terminal.held.first))
        #expect(breaker.state() == .closed && terminal.held.count == 1)
        terminal.answer(try #require(terminal.held.first))
        #expect(heard.events.last == "closed response")
        place.withLock { $0 = nil }
    }

    @Test func failureOfEarlierCallDoesNotReopenCircuit() throws {
        let breaker = breaker()
        // Four that take their time, and four that fail at once.
        for _ in 0..<4 { _ = load(with: breaker) }
        let slow = terminal.held
        for _ in 0..<4 {
            _ = load(with: breaker)
            terminal.refuse(try #require(terminal.held.last), .timedOut)
        }
        timers.advance(by: .seconds(5))
        _ = load(with: breaker)
        terminal.answer(try #require(terminal.held.last))
        #expect(breaker.state() == .closed)
        for task in slow { terminal.refuse(task, .timedOut) }
        #expect(breaker.state() == .closed)
    }

    @Test func eachHostHasItsOwnCircuit() throws {
        let breaker = breaker(perHost: true)
        try trip(breaker, "Bad.example.com")
        #expect(load("bad.example.com", with: breaker).events == ["circuitOpen"])
        #expect(load("good.example.com", with: breaker).events.isEmpty)
        #expect(breaker.state(of: "bad.EXAMPLE.com") == .open && breaker.state(of: "good.example.com") == .closed)
        #expect(breaker.state(of: "unheard.example.com") == .closed)
        #expect(breaker.details == "hosts 2, bad.example.com open")
        #expect(log.events == ["bad.example.com closed open"])
    }

    /// A server that a redirect leads to must not cut off the one that redirects.
    @Test(arguments: [true, false])
    func failureAfterRedirectCountsForNoServer(_ hasResponse: Bool) throws {
        let breaker = breaker(perHost: true)
        for _ in 0..<8 {
            _ = load(with: breaker)
            let task = try #require(terminal.held.first)
            var request = task.request
            request.host = "other.com"
            let response = HTTPResponse(request: request, status: .serviceUnavailable)
            let error = HTTPError(.timedOut, request: request)
            task.complete(hasResponse ? .success(response) : .failure(error))
        }
        #expect(breaker.state(of: "example.com") == .closed && breaker.state(of: "other.com") == .closed)
        #expect(log.events == [])
    }

    /// A loader below the breaker may choose another server, whose failures are then those of the one that was asked.
    @Test func failureOfServerThatALoaderBelowChoseCounts() throws {
        let breaker = breaker(perHost: true)
        for _ in 0..<4 {
            _ = load(with: breaker)
            let task = try #require(terminal.held.first)
            task.request.host = "other.com"
            terminal.refuse(task, .cannotConnect)
        }
        #expect(breaker.state(of: "example.com") == .open)
    }

    @Test func eachPortHasItsOwnCircuit() throws {
        let breaker = breaker(perHost: true)
        func request(_ port: Int?) -> HTTPRequest {
            var request = HTTPRequest.sample
            request.port = port
            return request
        }
        for _ in 0..<4 {
            breaker.load(request: request(8443)) { _ in }
            terminal.refuse(try #require(terminal.held.last), .cannotConnect)
        }
        #expect(breaker.state(of: "example.com", port: 8443) == .open && breaker.state(of: "example.com") == .closed)
        #expect(breaker.state(of: request(8443)) == .open && breaker.state(of: request(443)) == .closed)
        #expect(log.events == ["example.com:8443 closed open"])
        for port in [nil, 443, 8080] {
            breaker.load(request: request(port)) { _ in }
            terminal.answer(try #require(terminal.held.last))
        }
        #expect(breaker.details == "hosts 3, example.com:8443 open")
    }

    @Test func idleHostsAreForgotten() throws {
        let breaker = breaker(perHost: true)
        for number in 0..<5_000 {
            _ = load("host\(number)", with: breaker)
            terminal.answer(try #require(terminal.held.first))
            timers.advance(by: .seconds(1))
        }
        let hosts = breaker.details.split(separator: " ").compactMap { Int($0) }.first ?? 0
        #expect((1...64).contains(hosts), "\(breaker.details)")
    }

    @Test func resetClosesEveryCircuit() async throws {
        let breaker = breaker(perHost: true)
        try trip(breaker)
        let late = load("late.example.com", with: breaker)
        await breaker.reset()
        #expect(late.events == ["cancelled"])
        #expect(breaker.state(of: "example.com") == .closed)
        #expect(log.events == ["example.com closed open", "example.com open closed"])
    }

    @Test func defaultVerdictClassifiesStatusesAndErrors() {
        func verdict(_ status: Int) -> CircuitBreaker.Verdict {
            CircuitBreaker.defaultVerdict(on: .success(HTTPResponse(request: .sample, status: HTTPStatus(status))))
        }
        func verdict(_ code: HTTPError.Code, _ status: Int? = nil) -> CircuitBreaker.Verdict {
            let response = status.map { HTTPResponse(request: .sample, status: HTTPStatus($0)) }
            return CircuitBreaker.defaultVerdict(
                on: .failure(HTTPError(code, request: .sample, response: response)))
        }
        #expect([200, 302, 401, 404, 408].allSatisfy { verdict($0) == .success })
        #expect([429, 500, 501, 503, 599].allSatisfy { verdict($0) == .failure })
        let failures: [HTTPError.Code] = [
            .timedOut, .cannotConnect, .connectionLost, .insecureConnection, .invalidResponse, .cannotDecodeResponse,
            .unknown,
        ]
        #expect(failures.allSatisfy { verdict($0) == .failure })
        let silent: [HTTPError.Code] = [
            .cancelled, .resetInProgress, .deadlineExceeded, .invalidRequest, .circuitOpen, .queueFull, .rateLimited,
            .shed,
        ]
        #expect(silent.allSatisfy { verdict($0) == .nothing && verdict($0, 503) == .nothing })
        // What this side does not take, or a loader of the program refuses, says nothing; the status of a response does.
        for code: HTTPError.Code in [.responseTooLarge, .cannotStoreResponse, .tooManyRedirects, .abandoned, .ownQuota]
        {
            #expect(verdict(code) == .nothing && verdict(code, 200) == .nothing && verdict(code, 302) == .nothing)
            #expect(verdict(code, 404) == .success && verdict(code, 503) == .failure)
        }
        #expect(verdict(.authenticationRequired, 401) == .success && verdict(.connectionLost, 404) == .success)
        #expect(verdict(.connectionLost, 200) == .failure && verdict(.invalidResponse, 302) == .failure)
        #expect(verdict(.invalidResponse, 404) == .success)
        #expect(verdict(.invalidResponse, 503) == .failure)
        #expect(verdict(.cannotDecodeResponse, 200) == .failure)
    }

    @Test func invalidSettingsDoNotTrap() throws {
        let settings = CircuitBreaker.Settings(
            failureRatio: .nan, minimumNumberOfCalls: -1, window: .zero, openDuration: .seconds(-1),
            maximumOpenDuration: .seconds(Int64.max), jitter: .infinity, probes: 0)
        let breaker =
            CircuitBreaker(settings, timers: timers, random: RandomSource(seed: 3))
            --> ScriptedTerminal { _ in .failure(.timedOut) }
        for _ in 0..<100 {
            breaker.load(request: .sample) { _ in }
            timers.advance(by: .seconds(1))
        }
    }

    @Test(arguments: [(true, 0.5, Duration.seconds(1)), (false, 0.1, .milliseconds(1)), (true, 2, .seconds(100))])
    func keepsTheContract(_ perHost: Bool, _ ratio: Double, _ open: Duration) async {
        let violations = await ContractCheck(patience: .patient) { timers in
            CircuitBreaker(
                CircuitBreaker.Settings(failureRatio: ratio, minimumNumberOfCalls: 2, openDuration: open),
                perHost: perHost, timers: timers, random: RandomSource(seed: 3))
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func keepsTheContractWithRetryAndRateLimit() async {
        let violations = await ContractCheck(patience: .patient) { timers in
            Retry(.constant(delay: 1, maximumNumberOfAttempts: 3), timers: timers)
                --> CircuitBreaker(timers: timers, random: RandomSource(seed: 3))
                --> RateLimit(requests: 1_000, per: .seconds(1), burst: 5, timers: timers)
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}

extension HTTPError.Code {
    fileprivate static let ownQuota = HTTPError.Code("ownQuota")
}
