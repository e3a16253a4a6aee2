import Foundation
import LoaderChain
import LoaderChainTerminal
import LoaderChainTesting
import ReportOutbox
import Steps

struct User: Codable, Sendable { var name: String }

@main
enum Main {
    static func main() async throws {
        section("One stack for app and tests")
        let production = ServerEnvironment(host: "api.example.com", pathPrefix: "/v1")
        let preview = AppNetwork(production, terminal: MockLoader().on(.get, "/v1/me", body: #"{"name":"Ada"}"#))
        show(try await preview.chain.load(.get("me"), as: User.self).name)

        section("A static key")
        let keys = ScriptedTerminal { .success(.ok, body: $0.headers["X-API-Key"] ?? "no key") }
        let keyed = addingKey("k1", for: "api.example.com") --> keys
        show(await outcome(of: HTTPRequest(host: "api.example.com"), from: keyed))
        show(await outcome(of: HTTPRequest(host: "images.example.com"), from: keyed))
        show(await outcome(of: HTTPRequest(scheme: "http", host: "api.example.com"), from: keyed))

        section("Signing in with OAuth")
        let account = try makeAccount()
        show(await outcome(of: HTTPRequest(path: "/me"), from: account.chain))
        try await account.signIn(BearerToken(accessToken: "t1", refreshToken: "r1"))
        show(await outcome(of: HTTPRequest(path: "/me"), from: account.chain))

        section("Signing out")
        await account.signOut()
        show(await outcome(of: HTTPRequest(path: "/me"), from: account.chain))

        section("Offline")
        try await offline()

        section("A remote switch")
        try await switchFromAfar()

        try await withFolder { folder in
            let server = try LoopbackServer()
            let environment = ServerEnvironment(scheme: "http", host: "127.0.0.1", port: server.port)
            let network = AppNetwork(environment, terminal: SystemTerminal())
            section("An upload with progress")
            try await upload(from: folder, to: server, over: network.chain)
            section("A download into a file")
            try await download(into: folder, from: server, over: network.chain)
            section("Events and lines as they arrive")
            try await stream(from: server, over: network.chain)
            section("Pages and changes")
            try await turnPages(of: server, over: network.chain)
            await network.chain.reset()
            server.stop()
        }

        section("Limits per host")
        try await limitHosts()

        section("Sharing requests")
        let held = ScriptedTerminal()
        let shared = Deduplicate() --> Throttle(maximumNumberOfRequests: 4) --> held
        let log = EventLog()
        for _ in 1...10 { shared.load(request: HTTPRequest(host: "test")) { log.note(outcome(of: $0)) } }
        held.answer(await held.next(), body: "an image")
        await log.waitForEvents(10)
        show("\(log.events.count) views have \(log.events[0]), by \(held.requests.count) request")

        section("On a server")
        try await serve()
    }

    /// An account at a server that knows one refresh token, and accepts the access tokens that it issues for it.
    static func makeAccount() throws -> Account {
        let terminal = ScriptedTerminal { request in
            if request.path == "/token" {
                let form = try? request.body.encode().data(upTo: 1_000)
                let isKnown = String(decoding: form ?? Data(), as: UTF8.self).contains("refresh_token=r1")
                return isKnown
                    ? .success(body: #"{"access_token":"t2","token_type":"Bearer","expires_in":3600}"#)
                    : .success(.badRequest, body: #"{"error":"invalid_grant"}"#)
            }
            let isAuthorized = request.headers["Authorization"] == "Bearer t2"
            return isAuthorized ? .success(.ok, body: "Ada") : .success(.unauthorized)
        }
        guard let tokens = URL(string: "https://login.example.com/token") else { throw URLError(.badURL) }
        return Account(
            host: "api.example.com", tokens: tokens, store: MemoryCredentialStore<BearerToken>(), terminal: terminal)
    }

    static func offline() async throws {
        let terminal = MockLoader().then(.ok, body: "the news").then(failing: .cannotConnect).then(
            failing: .cannotConnect)
        let known = LastKnown() --> terminal
        let news = HTTPRequest(host: "api.example.com", path: "/news")
        for _ in 1...2 { show(await outcome(of: news, from: known)) }
        await known.reset()
        show(await outcome(of: news, from: known))

        try await withFolder { box in
            let server = ScriptedTerminal()
            let network = ManualNetwork(isAvailable: false)
            let throttle = Throttle(maximumNumberOfRequests: 6, queueTimeout: .seconds(30))
            let chain = WaitForNetwork(upTo: .seconds(30), network: network) --> throttle --> server
            let outbox = try ReportOutbox(directory: box, chain: chain)
            outbox.setNetwork(isAvailable: false)
            let watch = network.watch { outbox.setNetwork(isAvailable: $0) }
            defer { watch.cancel() }
            let order = HTTPRequest(
                method: .post, host: "api.example.com", path: "/v1/orders", body: JSONBody(["item": "7"]))
            let id = try outbox.submit(order, identifier: "order-4711")
            let loading = Task { await outcome(of: news, from: chain) }
            show("\(id) is safe: \(outbox.count), sent: \(server.requests.count)")
            network.isAvailable = true
            for _ in 1...2 { server.answer(await server.next(), body: "back") }
            show(await loading.value)
            for await event in outbox.events {
                if case .delivered(let id, _) = event {
                    show("\(id) has arrived")
                    break
                }
            }
            await outbox.close()
        }
    }

    static func switchFromAfar() async throws {
        let terminal = ScriptedTerminal()
        let throttle = Throttle(maximumNumberOfRequests: 6)
        let chain = ResetGuard() --> throttle --> Validate() --> terminal
        let timers = ManualTimers()
        let settings = RemoteSettings(
            url: URL(string: "https://static.example.com/app.json")!, chain: chain,
            targets: ["api": .throttle(throttle)],
            interval: .seconds(300), timers: timers, onEvent: { show("\($0)") })

        for answer in [
            #"{"revision": 1, "loaders": {"api": {"maximumNumberOfRequests": 0}}}"#, "no JSON",
            #"{"revision": 2, "loaders": {}}"#,
        ] {
            let asking = Task { await settings.refresh() }
            terminal.answer(await terminal.next(), body: answer)
            await asking.value
            show("limit \(throttle.maximumNumberOfRequests)")
            if throttle.maximumNumberOfRequests == 0, throttle.snapshot.total.waiting == 0 {
                chain.load(request: HTTPRequest(host: "api.example.com", path: "/news")) { _ in }
                show("waiting \(throttle.snapshot.total.waiting)")
            }
        }
        show("sent: \(await terminal.next().request.path)")

        let following = Task { await settings.run() }
        for limit in 2...3 {
            let document = #"{"revision": \#(limit), "loaders": {"api": {"maximumNumberOfRequests": \#(limit)}}}"#
            terminal.answer(await terminal.next(), body: document)
            await timers.waitForPending(count: 1)
            timers.advance(by: .seconds(400))
        }
        show("limit \(throttle.maximumNumberOfRequests)")
        following.cancel()
        await following.value
        await chain.reset()
    }

    static func upload(from folder: URL, to server: LoopbackServer, over chain: HTTPLoader) async throws {
        let photo = folder.appending(path: "photo.jpg")
        try Data(repeating: 7, count: 300_000).write(to: photo)
        server.route("/photos", replies: .unavailable(retryAfter: 0), .ok("stored"))
        let progress = EventLog()
        let response = try await RecipesGuide.upload(photo, over: chain) { progress.note("\($0)") }
        show(outcome(of: .success(response)))
        let keys = Set(server.requests.map { $0.headers["Idempotency-Key"] })
        let bodies = Set(server.requests.map(\.body))
        show(
            "\(server.requests.count) attempts, \(keys.count) key, \(bodies.count) body, in the end \(progress.events.last ?? "")"
        )
    }

    static func download(into folder: URL, from server: LoopbackServer, over chain: HTTPLoader) async throws {
        let film = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        server.route("/film") { _ in .ok(film) }
        let progress = EventLog()
        let file = folder.appending(path: "film.mp4")
        let where_ = try await RecipesGuide.download("/film", to: file, over: chain) { progress.note("\($0)") }
        show("whole: \(try Data(contentsOf: where_) == film), in the end \(progress.events.last ?? "")")

        let large = folder.appending(path: "large.mp4")
        let status = try await downloadLarge("/film", to: large, over: chain) { progress.note("\($0)") }
        show("in parts: \(status), \(try Data(contentsOf: large) == film), in the end \(progress.events.last ?? "")")

        var chunked = HTTPRequest(path: "/film")
        chunked.delivery = .chunks
        let response = try await chain.load(chunked)
        var size = 0
        if let chunks = response.chunks {
            for try await chunk in chunks { size += chunk.count }
        }
        show("in chunks: \(size)")
        do {
            _ = try await RecipesGuide.download("/missing", to: folder.appending(path: "none"), over: chain) { _ in }
        } catch { show("\(error.code), \(error.response?.status ?? 0)") }
        show("left in the folder: \(try FileManager.default.contentsOfDirectory(atPath: folder.path()).count)")
    }

    static func stream(from server: LoopbackServer, over chain: HTTPLoader) async throws {
        server.route("/prices") { _ in
            var reply = LoopbackReply.chunks([
                "event: price\ndata: 1234\n\nid: 7\nevent: pri", "ce\ndata: 1235\n\n", "id: 8\nevent: close\ndata\n\n",
            ])
            reply.headers["Content-Type"] = "text/event-stream"
            return reply
        }
        show("go on after \(try await follow("/prices", over: chain) { show($0) })")
        server.route("/history") { _ in .chunks(["{\"price\":1}\n{\"pri", "ce\":2}\r\n\n", "{\"price\":3}"]) }
        var prices: [String] = []
        try await history("/history", over: chain) { prices.append("\($0)") }
        show(prices.joined(separator: ", "))
    }

    static func turnPages(of server: LoopbackServer, over chain: HTTPLoader) async throws {
        server.route("/users") { request in
            let isFirst = !request.target.contains("page=2")
            var reply = LoopbackReply.ok(Data((isFirst ? #"["Ada","Bo"]"# : #"["Cy"]"#).utf8))
            if isFirst { reply.headers["Link"] = #"<?page=2>; rel="next""# }
            return reply
        }
        show("users: \(try await countUsers("/users", over: chain))")
        let log = EventLog()
        server.route("/order") { _ in
            log.note("asked")
            return .ok(Data((log.events.count < 3 ? "packed" : "sent").utf8))
        }
        show(
            "the order is \(try await nextState("/order", after: "packed", over: chain)), asked \(log.events.count) times"
        )
    }

    enum Upstream: HTTPRequestOption {
        static var defaultOptionValue: Upstream { .api }
        case api, images
    }

    static func limitHosts() async throws {
        let terminal = ScriptedTerminal()
        let throttle = Throttle(
            maximumNumberOfRequests: 16, perHost: 4, maximumWaiting: 1_000, queueTimeout: .seconds(30))
        let chain =
            throttle --> CircuitBreaker() --> RateLimit(requests: 1_000, per: .seconds(1), burst: 10, perHost: true)
            --> terminal
        for _ in 1...6 { chain.load(request: HTTPRequest(host: "slow.example.com")) { _ in } }
        chain.load(request: HTTPRequest(host: "quick.example.com")) { _ in }
        for (host, counts) in throttle.snapshot.hosts.sorted(by: { $0.key < $1.key }) {
            show("\(host): running \(counts.running), waiting \(counts.waiting)")
        }
        await chain.reset()

        let images = Throttle(maximumNumberOfRequests: 12)
        let others = Throttle(maximumNumberOfRequests: 4)
        let choosing = Choose(by: Upstream.self, [.images: images], otherwise: others) --> ScriptedTerminal()
        var request = HTTPRequest(host: "test")
        request[option: Upstream.self] = .images
        for _ in 1...5 { choosing.load(request: request) { _ in } }
        show("images \(images.snapshot.total.running), others \(others.snapshot.total.running)")
        await choosing.reset()
    }

    static func serve() async throws {
        let board = MetricBoard()
        let terminal = ScriptedTerminal()
        let timers = ManualTimers()
        let upstream = UpstreamClient(
            ServerEnvironment(host: "users.internal"), metrics: MetricRecorder(board), timers: timers,
            terminal: terminal)
        let log = EventLog()
        for _ in 1...321 {
            upstream.chain.load(request: HTTPRequest(path: "/users/1")) { log.note(outcome(of: $0)) }
        }
        await log.waitForEvents(1)
        show(log.events[0])
        await upstream.chain.reset()
        await log.waitForEvents(321)
        for row in board.rows {
            show("\(row.host)\(row.route): cancelled \(row.summary[.cancelled]), rejected \(row.summary[.rejected])")
        }

        let quick = UpstreamClient(
            ServerEnvironment(host: "users.internal"), metrics: MetricRecorder(), timers: timers,
            terminal: ScriptedTerminal { _ in .success() })
        show(
            outcome(
                of: .success(try await quick.load(HTTPRequest(path: "/users/1"), by: .after(.seconds(1), on: timers)))))
    }
}
