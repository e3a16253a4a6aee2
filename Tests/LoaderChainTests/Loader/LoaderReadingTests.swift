import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The readings of loaders, and how a chain collects them.
@Suite(.timeLimit(.minutes(10))) struct LoaderReadingTests {
    let timers = ManualTimers()
    let terminal = ScriptedTerminal()

    /// The numbers of a chain, by name and attributes.
    private func numbers(_ chain: HTTPLoader, _ name: String) -> [String: Int64] {
        let own = chain.chainReadings.filter { $0.name == name }
        return own.reduce(into: [:]) { numbers, reading in
            let rest = reading.attributes.filter { $0.key != "loader" }.sorted { $0.key < $1.key }
            numbers[rest.map { "\($0.key)=\($0.value)" }.joined(separator: " ")] = reading.value
        }
    }

    private func load(_ chain: HTTPLoader, _ request: HTTPRequest = .sample) -> HTTPTask {
        chain.load(request: request) { _ in }
    }

    // MARK: The walk

    @Test func readingsFollowChainOrderAndDuplicateNamesAreNumbered() {
        let shared = Throttle(maximumNumberOfRequests: 3)
        let chain =
            Retry(nil) --> Throttle() --> ForkedLoader([Autocancel() --> shared, WaitForNetwork() --> shared])
            --> terminal
        let loaders = chain.chainReadings.compactMap { $0.attributes["loader"] }
        let inOrder = loaders.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
        #expect(inOrder == ["Retry", "Throttle", "Autocancel", "Throttle 2", "WaitForNetwork"])
    }

    @Test func readingsAreUniqueAndNamesHaveOneKindAndUnit() {
        let breaker = CircuitBreaker(timers: timers)
        let chain =
            MetricsTap(MetricBoard(timers: timers), countsActive: true) --> Deduplicate() --> Autocancel()
            --> Throttle(limit: .fixed(1), perHost: .fixed(1), partitions: [ThrottlePartition("a", share: 0.5)])
            --> Retry(nil, timers: timers) --> Hedge(timers: timers) --> breaker
            --> RateLimit(requests: 1, per: .seconds(1), perHost: true, timers: timers) --> Throttle(perHost: 2)
            --> terminal
        for host in ["one.example", "two.example", "one.example"] {
            _ = load(chain, HTTPRequest(host: host, path: "/"))
        }
        let readings = chain.chainReadings
        struct Series: Hashable { let name: String, attributes: [String: String] }
        #expect(Set(readings.map { Series(name: $0.name, attributes: $0.attributes) }).count == readings.count)
        for (name, group) in Dictionary(grouping: readings, by: \.name) {
            #expect(Set(group.map(\.kind)).count == 1 && Set(group.map(\.unit)).count == 1, "\(name)")
            #expect(Set(group.map(\.help)).count == 1, "\(name)")
        }
        #expect(readings.count > 25)
        terminal.answerAll()
        timers.advance(by: .seconds(10))
        terminal.answerAll()
    }

    @Test func descriptionIsOneLine() {
        let reading = LoaderReading(
            "mine.waiting", .level, 3, unit: "{request}", help: "How many wait", attributes: ["b": "x\ny", "a": "1"])
        #expect(!reading.description.contains("\n"))
        #expect(reading.description.hasPrefix("mine.waiting{a=1, b=x") && reading.description.hasSuffix("} 3"))
        #expect(LoaderReading("n", .counter, UInt64.max, unit: "1", help: "").value == .max)
    }

    // MARK: Loaders

    @Test func throttleReportsLimitAndTasks() {
        let chain = Throttle(maximumNumberOfRequests: 2, perHost: 2, timers: timers) --> terminal
        let tasks = (0..<5).map { _ in load(chain) }
        #expect(numbers(chain, "loaderchain.throttle.limit") == ["": 2])
        #expect(numbers(chain, "loaderchain.throttle.running") == ["": 2])
        #expect(numbers(chain, "loaderchain.throttle.waiting") == ["": 3])
        #expect(numbers(chain, "loaderchain.throttle.host.waiting") == ["host=example.com": 3])
        for task in tasks { task.cancel() }
        #expect(numbers(chain, "loaderchain.throttle.running") == ["": 0])
        #expect(numbers(chain, "loaderchain.throttle.host.running") == [:])
        let unlimited = Throttle() --> terminal
        #expect(numbers(unlimited, "loaderchain.throttle.limit") == [:])
    }

    @Test func throttleNamesOnlyBusiestHosts() {
        var hosts: [String: Throttle.Snapshot.Counts] = [:]
        for number in 0..<200 { hosts["h\(number)"] = .init(running: number, waiting: 0) }
        let readings = Throttle.Snapshot(hosts: hosts).readings(limit: nil, pressure: nil)
        let named = Set(readings.compactMap { $0.attributes["host"] })
        #expect(named.count == 50 && named.contains("h199") && named.contains("h150") && !named.contains("h149"))
    }

    @Test func breakerCountsCircuitsByState() {
        let settings = CircuitBreaker.Settings(minimumNumberOfCalls: 1, openDuration: .seconds(5), jitter: 0)
        let chain =
            CircuitBreaker(settings, timers: timers)
            --> ScriptedTerminal { $0.host == "bad.example" ? .success(.serviceUnavailable) : .success() }
        for host in ["bad.example", "good.example", "other.example"] { _ = load(chain, HTTPRequest(host: host)) }
        let circuits = "loaderchain.circuit_breaker.circuits"
        #expect(numbers(chain, circuits) == ["state=closed": 2, "state=open": 1, "state=halfOpen": 0])
        #expect(numbers(chain, "loaderchain.circuit_breaker.broken") == ["host=bad.example state=open": 1])
        #expect(numbers(chain, "loaderchain.circuit_breaker.opened") == ["": 1])
        timers.advance(by: .seconds(5))
        _ = load(chain, HTTPRequest(host: "bad.example"))
        #expect(numbers(chain, "loaderchain.circuit_breaker.opened") == ["": 2])
        let common = CircuitBreaker(settings, perHost: false, timers: timers) --> ScriptedTerminal { _ in .success() }
        _ = load(common)
        #expect(numbers(common, circuits) == ["state=closed": 1, "state=open": 0, "state=halfOpen": 0])
    }

    @Test func retryCountsSuppressedRetriesByReason() {
        let chain =
            Retry(.constant(delay: 1, maximumNumberOfAttempts: 2), timers: timers)
            --> ScriptedTerminal { _ in .success(.serviceUnavailable) }
        var post = HTTPRequest.sample
        post.method = .post
        var late = HTTPRequest.sample
        late.deadline = .after(.milliseconds(500), on: timers)
        var once = HTTPRequest.sample
        once.body = StreamBody { nil }
        for request in [post, late, once] { _ = load(chain, request) }
        #expect(
            numbers(chain, "loaderchain.retry.suppressed")
                == ["reason=budget": 0, "reason=body": 1, "reason=deadline": 1, "reason=not-repeatable": 1])
    }

    @Test func retryCountsRetriesAndBudgetRefusals() {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, window: .seconds(2), timers: timers)
        let strategy = Backoff.immediately(maximumNumberOfAttempts: 10)
        let chain =
            Retry(strategy, budget: budget, timers: timers)
            --> ScriptedTerminal { _ in .success(.serviceUnavailable) }
        _ = load(chain)
        #expect(numbers(chain, "loaderchain.retry.retries") == ["": 2])
        #expect(
            numbers(chain, "loaderchain.retry.suppressed")
                == ["reason=budget": 1, "reason=body": 0, "reason=deadline": 0, "reason=not-repeatable": 0])
        #expect(numbers(chain, "loaderchain.retry.budget.remaining") == ["": 0])
        #expect(numbers(chain, "loaderchain.retry.running") == ["": 0])
        let unlimited = Retry(nil, budget: .unlimited) --> terminal
        #expect(numbers(unlimited, "loaderchain.retry.budget.remaining") == [:])
    }

    @Test func taskBetweenRetriesIsCountedAsWaiting() {
        let strategy = Backoff.constant(delay: 3, maximumNumberOfAttempts: 2)
        let chain =
            Retry(strategy, timers: timers) --> ScriptedTerminal { _ in .success(.serviceUnavailable) }
        let task = load(chain)
        #expect(numbers(chain, "loaderchain.retry.waiting") == ["": 1])
        task.cancel()
        #expect(numbers(chain, "loaderchain.retry.waiting") == ["": 0])
    }

    @Test func hedgeReportsReasonForSuppression() {
        let chain = Hedge(timers: timers) --> ScriptedTerminal { _ in .success() }
        _ = load(chain)
        #expect(numbers(chain, "loaderchain.hedge.requests") == ["": 1])
        #expect(numbers(chain, "loaderchain.hedge.suppressed") == ["reason=tooFewSamples": 1])
        #expect(numbers(chain, "loaderchain.hedge.budget.remaining") == ["": 0])
    }

    // MARK: Requests under way

    @Test func tapCountsActiveRequestsByMethodAndServer() {
        let name = "http.client.active_requests"
        let tap = MetricsTap(MetricBoard(timers: timers), countsActive: true)
        // What a loader below writes into the request does not move it to another row.
        let chain =
            tap
            --> ModifyRequest { request in
                var changed = request
                changed.host = "elsewhere.example"
                return changed
            } --> terminal
        let tasks = (0..<2).map { _ in load(chain) }
        _ = load(chain, HTTPRequest(method: .post, url: URL(string: "http://example.com:8080/")!))
        let get = "http.request.method=GET server.address=example.com server.port=443 url.scheme=https"
        let post = "http.request.method=POST server.address=example.com server.port=8080 url.scheme=http"
        #expect(numbers(chain, name) == [get: 2, post: 1])
        tasks[0].cancel()
        #expect(numbers(chain, name) == [get: 1, post: 1])
        terminal.answerAll()
        // A row stays, so that a store of metrics sees the zero.
        #expect(numbers(chain, name) == [get: 0, post: 0])
    }

    @Test func serversBeyondTheLimitAreCountedTogether() {
        let chain = MetricsTap(MetricBoard(timers: timers), countsActive: true) --> terminal
        for number in 0..<230 { _ = load(chain, HTTPRequest(host: "h\(number).example")) }
        let readings = chain.chainReadings
        #expect(readings.count == 201)
        #expect(readings.last?.attributes["otel.metric.overflow"] == "true" && readings.last?.value == 30)
        terminal.answerAll()
        #expect(chain.chainReadings.allSatisfy { $0.value == 0 })
    }

    @Test func unknownMethodsShareOneRow() {
        let chain = MetricsTap(MetricBoard(timers: timers), countsActive: true) --> terminal
        for number in 0..<3 { _ = load(chain, HTTPRequest(method: HTTPMethod("X\(number)"), host: "a.example")) }
        let row = "http.request.method=_OTHER server.address=a.example server.port=443 url.scheme=https"
        #expect(numbers(chain, "http.client.active_requests") == [row: 3])
        terminal.answerAll()
        #expect(numbers(chain, "http.client.active_requests") == [row: 0])
    }

    @Test func unmeasuredRequestsAreNotCounted() {
        let chain = MetricsTap(MetricBoard(timers: timers), countsActive: true) --> terminal
        var request = HTTPRequest.sample
        request.measurement = .never
        let task = load(chain, request)
        #expect(chain.chainReadings.isEmpty)
        task.cancel()
        #expect(
            (MetricsTap(MetricBoard(timers: timers)) --> ScriptedTerminal { _ in .success() }).chainReadings.isEmpty)
    }

    /// The sample is for what is recorded.
    @Test func requestsOutsideOfSampleAreCounted() {
        let recorder = MetricRecorder(MetricBoard(timers: timers), samplingRate: 0, timers: timers)
        let chain = MetricsTap(recorder, countsActive: true) --> terminal
        let name = "http.client.active_requests"
        let tasks = (0..<3).map { _ in load(chain) }
        #expect(Array(numbers(chain, name).values) == [3])
        for task in tasks { task.cancel() }
        #expect(Array(numbers(chain, name).values) == [0])
    }
}
