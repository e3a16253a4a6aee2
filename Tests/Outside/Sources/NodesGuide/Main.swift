import Foundation
import LoaderChain
import LoaderChainTesting
import Steps

@main
enum Main {
    static let request = HTTPRequest(host: "api.example.com", path: "/people")

    static func main() async throws {
        section("The order")
        try await order()

        section("Cancelling and resetting")
        part("ResetGuard")
        let terminal = ScriptedTerminal { _ in .success(.ok, body: "hello") }
        let guarded = ResetGuard() --> Autocancel() --> Throttle() --> terminal
        await guarded.reset()
        show(await outcome(of: request, from: guarded))
        part("Autocancel")
        try await autocancel()

        section("Completing requests")
        part("ApplyEnvironment")
        let addresses = ScriptedTerminal { .success(.ok, body: $0.url?.absoluteString ?? "no address") }
        let staging = ServerEnvironment(
            host: "staging.example.com", pathPrefix: "/v1", headers: ["X-Client": "app/3.1"])
        let environment = ApplyEnvironment(environment: staging) --> addresses
        var people = HTTPRequest(path: "people")
        show(await outcome(of: people, from: environment))
        people.serverEnvironment = ServerEnvironment(scheme: "http", host: "localhost", port: 8080)
        show(await outcome(of: people, from: environment))
        part("ModifyRequest")
        let numbered = ModifyRequest { request in
            var request = request
            request.headers["X-Request-ID"] = "17"
            return request
        }
        let numbers = ScriptedTerminal { .success(.ok, body: $0.headers["X-Request-ID"] ?? "none") }
        show(await outcome(of: request, from: numbered --> numbers))
        part("KeepCookies")
        let cookies = ScriptedTerminal {
            .success(.ok, headers: ["Set-Cookie": "id=1"], body: $0.headers["Cookie"] ?? "none")
        }
        let keeping = KeepCookies() --> cookies
        _ = await outcome(of: request, from: keeping)
        show(await outcome(of: request, from: keeping))
        part("Choose")
        let urgent = Throttle(maximumNumberOfRequests: 8)
        let others = Throttle(maximumNumberOfRequests: 0)
        let chosen = Choose(by: ThrottlePriority.self, [.high: urgent], otherwise: others) --> terminal
        var urgentRequest = request
        urgentRequest.priority = .high
        show(await outcome(of: urgentRequest, from: chosen))

        section("Protecting the server")
        try await spare()

        section("Retrying")
        part("Retry")
        let flaky = MockLoader().then(.serviceUnavailable).then(.ok, body: "at last").then(.serviceUnavailable)
        let retry = Retry(.immediately(maximumNumberOfAttempts: 3), totalTimeout: .seconds(20)) --> flaky
        show(await outcome(of: request, from: retry))
        var once = request
        once.retryStrategy = Backoff.never
        show(await outcome(of: once, from: retry))
        part("Hedge")
        await hedge()
        part("ResumableDownload")
        try await download()

        section("Deadlines")
        var hurried = request
        hurried.deadline = .after(.milliseconds(20))
        show(await outcome(of: hurried, from: Throttle(maximumNumberOfRequests: 0) --> terminal))
        hurried.deadline = .after(.seconds(5), on: ManualTimers())
        let failing = Retry(.constant(delay: 60, maximumNumberOfAttempts: 3))
        show(await outcome(of: hurried, from: failing --> MockLoader().then(.serviceUnavailable)))
        part("DeadlineHeader")
        let telling = ScriptedTerminal {
            .success(.ok, body: $0.headers.contains("X-Client-Timeout-Ms") ? "told" : "not told")
        }
        show(await outcome(of: hurried, from: DeadlineHeader("X-Client-Timeout-Ms", as: .milliseconds) --> telling))

        section("Authenticating")
        await authenticate()

        section("Validating and observing")
        try await judge()

        section("Your own")
        part("ClosureLoader and AsyncLoader")
        let fallback = ClosureLoader("fallback") { request, next in
            do { return try await next(request) } catch {
                var request = request
                request.host = "backup.example.com"
                return try await next(request)
            }
        }
        let halfDown = ScriptedTerminal {
            $0.host == "backup.example.com" ? .success(.ok, body: "from the backup") : .failure(.cannotConnect)
        }
        show(await outcome(of: request, from: fallback --> halfDown))
        part("MockLoader")
        let mock = MockLoader().then(.ok, body: #"{"name":"Ada"}"#).then(failing: .timedOut)
        for _ in 1...3 { show(await outcome(of: request, from: mock)) }
    }

    /// Ten quick responses, and then one that does not come until its second attempt has won.
    static func hedge() async {
        let timers = ManualTimers()
        let terminal = ScriptedTerminal()
        let hedge = Hedge(Hedge.Settings(share: 1, minimumNumberOfSamples: 10), timers: timers)
        let chain = hedge --> terminal
        for _ in 0..<10 {
            chain.load(request: request) { _ in }
            timers.advance(by: .milliseconds(50))
            terminal.answer(await terminal.next())
        }
        async let slow = outcome(of: request, from: chain)
        _ = await terminal.next()
        await timers.waitForPending(count: 1)
        timers.advance(by: .milliseconds(50))
        terminal.answer(await terminal.next(), body: "quick")
        show(await slow)
        show("sent \(hedge.snapshot.sent), won \(hedge.snapshot.won)")
    }

    static func order() async throws {
        let terminal = ScriptedTerminal { request in
            if request.path == "/token" { return .success(body: #"{"access_token":"t1","token_type":"Bearer"}"#) }
            let isAuthorized = request.headers["Authorization"] == "Bearer t1"
            return isAuthorized ? .success(body: "whole") : .success(.unauthorized)
        }
        guard let tokenURL = URL(string: "https://login.example.com/token") else { return }
        let source = RefreshTokenFlow(endpoint: tokenURL, client: OAuthClient(id: "my-app"))
        let store = MemoryCredentialStore(BearerToken(accessToken: "t0", refreshToken: "r0"))
        let chain =
            ResetGuard() --> Autocancel()
            --> ApplyEnvironment(environment: ServerEnvironment(host: "api.example.com", pathPrefix: "/v1"))
            --> Deduplicate() --> Throttle(maximumNumberOfRequests: 6)
            --> Retry(.exponential(delay: 0.5, maximumNumberOfAttempts: 3))
            --> BearerAuth(hosts: ["api.example.com"], source: source, store: store)
            --> CircuitBreaker() --> RateLimit(requests: 1_000, per: .seconds(1), burst: 5)
            --> Validate() --> terminal
        show(await outcome(of: HTTPRequest(path: "people"), from: chain))
        show(terminal.requests.map { $0.path }.joined(separator: ", "))
    }

    static func autocancel() async throws {
        let held = ScriptedTerminal()
        let chain = ResetGuard() --> Autocancel() --> Throttle(maximumNumberOfRequests: 1) --> held
        let log = EventLog()
        // Which loader ends the waiting task depends on the order in which the two are cancelled.
        for _ in 1...2 { chain.load(request: request) { log.note($0.error.map { "\($0.code)" } ?? "a response") } }
        await chain.reset()
        await log.waitForEvents(2)
        for event in log.events.sorted() { show(event) }
    }

    static func spare() async throws {
        part("Deduplicate")
        let held = ScriptedTerminal()
        let shared = Deduplicate() --> held
        let log = EventLog()
        for _ in 1...10 { shared.load(request: request) { log.note(outcome(of: $0)) } }
        held.answer(await held.next(), body: "for all")
        await log.waitForEvents(10)
        show("\(log.events.count) answers, \(held.requests.count) request")

        part("Throttle")
        let throttle = Throttle(maximumNumberOfRequests: 6, perHost: 4, maximumWaiting: 500, queueTimeout: .seconds(30))
        let slow = ScriptedTerminal()
        let throttled = throttle --> slow
        for _ in 1...5 { throttled.load(request: request) { _ in } }
        show("running \(throttle.snapshot.total.running), waiting \(throttle.snapshot.total.waiting)")
        throttle.maximumNumberOfRequests = 0
        slow.answer(await slow.next())
        show("running \(throttle.snapshot.total.running), waiting \(throttle.snapshot.total.waiting)")
        throttle.maximumNumberOfRequests = 6
        show("running \(throttle.snapshot.total.running), waiting \(throttle.snapshot.total.waiting)")
        await throttled.reset()

        part("RateLimit")
        let timers = ManualTimers()
        let terminal = ScriptedTerminal { _ in .success() }
        let limited = RateLimit(requests: 100, per: .seconds(60), burst: 10, perHost: true, timers: timers) --> terminal
        for _ in 1...12 { limited.load(request: request) { _ in } }
        show("\(terminal.requests.count) at once")
        timers.advance(by: .milliseconds(1_200))
        show("\(terminal.requests.count) after 1.2 seconds")
        let reporting = ScriptedTerminal { _ in .success(headers: ["RateLimit": "\"day\";r=0;t=30"]) }
        let kept = RateLimit(timers: timers) --> reporting
        for _ in 1...2 { kept.load(request: request) { _ in } }
        show("\(reporting.requests.count) before the reset of the server's quota")
        timers.advance(by: .seconds(33))
        show("\(reporting.requests.count) after it")
        let spent = ScriptedTerminal { _ in .success(headers: ["X-Tokens-Used": "30000"]) }
        let tokens =
            RateLimit(
                [
                    .init(requests: 60, per: .seconds(60), burst: 5),
                    .init(cost: 90_000, per: .seconds(60), burst: 20_000),
                ],
                actualCost: { _, result in result.response?.headers["X-Tokens-Used"].flatMap { Int($0) } },
                timers: timers) --> spent
        var costly = request
        costly.cost = 1_200
        for _ in 1...3 { tokens.load(request: costly) { _ in } }
        show("\(spent.requests.count) of 3, because it has cost more than expected")
        await tokens.reset()

        part("CircuitBreaker")
        let changes = EventLog()
        let breaker = CircuitBreaker(timers: timers, onChange: { changes.note("\($0.host ?? ""): \($0.to)") })
        let down = breaker --> Validate() --> ScriptedTerminal { _ in .success(.internalServerError) }
        for _ in 1...20 { _ = await outcome(of: request, from: down) }
        show(changes.events.joined(separator: ", "))
        show(await outcome(of: request, from: down))

        part("WaitForNetwork")
        let network = ManualNetwork(isAvailable: false)
        let waits = WaitForNetwork(upTo: .seconds(30), network: network, timers: timers)
        let offline = waits --> ScriptedTerminal { .success(.ok, body: $0.path) }
        let ends = EventLog()
        offline.load(request: request) { ends.note(outcome(of: $0)) }
        timers.advance(by: .seconds(30))
        await ends.waitForEvents(1)
        for path in ["/first", "/second"] {
            offline.load(request: HTTPRequest(host: "api.example.com", path: path)) { ends.note(outcome(of: $0)) }
        }
        show("waiting \(waits.waiting)")
        network.isAvailable = true
        timers.advance(by: .milliseconds(500))
        await ends.waitForEvents(3)
        for event in ends.events { show(event) }
    }

    /// The connection is lost in the middle of a file, and the app is started again.
    static func download() async throws {
        let film = "a film in two parts"
        let log = EventLog()
        let server = ClosureLoader("server") { request, _ in
            let range = request.headers["Range"]
            log.note("\(request.query ?? ""): \(range ?? "everything")")
            var response = HTTPResponse(request: request, status: .ok, headers: ["ETag": "\"1\""])
            if range == "bytes=7-", request.headers["If-Range"] == "\"1\"" {
                response.status = .partialContent
                response.headers["Content-Range"] = "bytes 7-\(film.count - 1)/\(film.count)"
                response.chunks = chunks(of: film.dropFirst(7), isWhole: true)
            } else {
                response.headers["Content-Length"] = "\(film.count)"
                response.chunks = chunks(of: film.prefix(7), isWhole: false)
            }
            return response
        }
        try await withFolder { folder in
            var settings = ResumableDownload.Settings()
            settings.maximumFailures = 1
            for signature in ["1", "2"] {
                var request = HTTPRequest(
                    host: "films.example.com", path: "/film", queryItems: [HTTPQueryItem("signature", signature)])
                request.delivery = .file(folder.appending(path: "film"))
                request.downloadName = "film"
                let chain = ResumableDownload(settings) --> Retry(.never) --> server
                show(await outcome(of: request, from: chain))
            }
            for event in log.events { show(event) }
            show(try String(contentsOf: folder.appending(path: "film"), encoding: .utf8))
        }
    }

    /// A text in one chunk, after which the connection is lost unless the text is whole.
    static func chunks(of text: Substring, isWhole: Bool) -> ResponseChunks {
        let reads = EventLog()
        return ResponseChunks(next: {
            reads.note("a read")
            if reads.events.count == 1 { return Data(text.utf8) }
            if !isWhole { throw HTTPError(.connectionLost, request: request) }
            return nil
        })
    }

    static func authenticate() async {
        let terminal = ScriptedTerminal {
            $0.headers.contains("Authorization") ? .success(.ok, body: "authorized") : .success(.unauthorized)
        }
        part("BasicAuth")
        let stored = MemoryCredentialStore(BasicCredentials(user: "zoe", password: "a password"))
        let basic = BasicAuth(hosts: ["api.example.com"], store: stored) --> terminal
        show(await outcome(of: request, from: basic))
        show(await outcome(of: HTTPRequest(host: "elsewhere.example.com"), from: basic))
        show(await outcome(of: HTTPRequest(scheme: "http", host: "api.example.com"), from: basic))

        part("BearerAuth")
        guard let tokenURL = URL(string: "https://login.example.com/token") else { return }
        let reports = ClientCredentialsFlow(
            endpoint: tokenURL, client: OAuthClient(id: "reports", secret: "a secret"))
        let issuing = ScriptedTerminal { request in
            if request.path == "/token" { return .success(body: #"{"access_token":"t1","token_type":"Bearer"}"#) }
            return .success(.ok, body: request.headers.contains("Authorization") ? "with a token" : "without")
        }
        let bearer =
            BearerAuth(hosts: ["api.example.com", "*.files.example.com"], source: reports) --> Validate(.success)
            --> issuing
        for host in ["api.example.com", "a.files.example.com", "files.example.com"] {
            show(await outcome(of: HTTPRequest(host: host), from: bearer))
        }
    }

    struct User: Codable, Sendable { var name: String }

    static func judge() async throws {
        part("Validate")
        let mock = MockLoader()
            .then(.notFound, headers: ["Content-Type": "application/json"], body: "{}")
            .then(.ok, headers: ["Content-Type": "text/html"], body: "<p>")
            .then(.internalServerError)
            .then(.ok, headers: ["Content-Type": "application/json"], body: #"{"name":"Ada"}"#)
        let chain = Validate() --> mock
        var checked = request
        checked.responseCheck = .statuses(200, 404).and(.contentTypes("application/json"))
        show(await outcome(of: checked, from: chain))
        show(await outcome(of: checked, from: chain))
        show(await outcome(of: request, from: chain))
        show(try await chain.load(request, as: User.self).name)

        part("MetricsTap")
        let board = MetricBoard()
        let measured = MetricsTap(board) --> Validate() --> ScriptedTerminal { _ in .success() }
        var article = HTTPRequest(host: "api.example.com", path: "/articles/why-we-wait")
        article.route = "/articles/{title}"
        _ = try await measured.load(article)
        article.measurement = .never
        _ = try await measured.load(article)
        for row in board.rows { show("\(row.method) \(row.host)\(row.route): \(row.summary[.success])") }

        part("TraceContext")
        let traced = TraceContext(hosts: ["api.example.com"]) --> ScriptedTerminal { _ in .success() }
        let trace = HTTPTraceContext()
        for host in ["api.example.com", "elsewhere.example.com"] {
            let response = try await HTTPTraceContext.$current.withValue(trace) {
                try await traced.load(HTTPRequest(host: host))
            }
            let sent = response.request.traceContext
            show(
                sent.map { $0.traceID == trace.traceID && $0.spanID != trace.spanID ? "a span of it" : "?" }
                    ?? "not sent")
        }

        part("PrintLoader")
        let lines = EventLog()
        let printing = PrintLoader(showsHeaders: true, bodyLimit: 1_000, output: { lines.note($0) })
        var secret = HTTPRequest(host: "api.example.com", path: "/search", queryItems: [HTTPQueryItem("q", "ada")])
        secret.headers["Authorization"] = "Bearer t1"
        _ = try await (printing --> ScriptedTerminal { _ in .success(.ok, body: "hello") }).load(secret)
        let first = lines.events[0].split(separator: "\n")
        show(first[0].split(separator: " ").suffix(2).joined(separator: " "))
        show(first[1].drop { $0 == " " }.description)
    }
}
