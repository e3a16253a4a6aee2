import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import Steps

struct User: Codable, Sendable { var name: String }
struct NewArticle: Codable, Sendable { var title: String }

@main
enum Main {
    static func main() async throws {
        section("A request")
        let server = try LoopbackServer()
        server.route("/users/7") { _ in .json(#"{"name":"Ada"}"#) }
        server.route("/articles", method: .post) { request in .text(request.text, status: .created) }
        server.route("/search") { request in .ok(request.query ?? "") }
        let environment = ApplyEnvironment(
            environment: ServerEnvironment(scheme: "http", host: "127.0.0.1", port: server.port))
        let chain = ResetGuard() --> Autocancel() --> environment --> Validate(.success) --> URLSessionLoader()
        show(try await chain.load(HTTPRequest(path: "users/7"), as: User.self).name)
        let article = HTTPRequest(method: .post, path: "articles", body: JSONBody(NewArticle(title: "Hello")))
        show(await outcome(of: article, from: chain))
        let search = HTTPRequest(path: "search", queryItems: [HTTPQueryItem("q", "loaders & chains")])
        show(await outcome(of: search, from: chain))
        show(await outcome(of: HTTPRequest(path: "nowhere"), from: chain))

        section("An interceptor")
        let flaky = MockLoader().then(.serviceUnavailable).then { request, completion in
            completion(
                .success(
                    HTTPResponse(
                        request: request, status: .ok, body: Data((request.headers["X-App-Version"] ?? "").utf8))))
        }
        show(await outcome(of: HTTPRequest(path: "people"), from: makeChain(version: "7", terminal: flaky)))
        let mock = MockLoader().then(.accepted).then(.accepted).then(.ok, body: "done")
        let timers = ManualTimers()
        let waiting = Retry(strategy: WhileAtWork(), timers: timers) --> mock
        let loading = Task { await outcome(of: HTTPRequest(host: "test"), from: waiting) }
        for _ in 1...2 {
            await timers.waitForPending(count: 1)
            timers.advance(by: .seconds(2))
        }
        show(await loading.value)

        section("Refreshing a token")
        try await refresh()

        section("Uploads and downloads")
        try await withFolder { folder in
            let photo = folder.appending(path: "photo.jpg")
            try Data("a photo".utf8).write(to: photo)
            server.route("/photos") { request in .ok("\(request.text.contains("a photo"))") }
            var upload = HTTPRequest(method: .post, path: "photos")
            upload.body = MultipartBody([.field("title", "Holiday"), .file("photo", photo, contentType: "image/jpeg")])
            let progress = EventLog()
            upload.onProgress = { progress.note("\($0.bytesSent == $0.bytesToSend)") }
            show(await outcome(of: upload, from: chain))
            show("sent whole: \(progress.events.last ?? "")")

            server.route("/film.mp4") { _ in .ok("a film") }
            var download = HTTPRequest(path: "film.mp4")
            download.delivery = .file(folder.appending(path: "film.mp4"))
            let file = try await chain.load(download).file
            show(try file.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) } ?? "no file")
        }

        section("Monitoring")
        let counter = FailureCounter()
        let failing = counter --> MockLoader().then(failing: .timedOut).then(.ok).then(failing: .timedOut)
        for _ in 1...3 { _ = await outcome(of: HTTPRequest(host: "test"), from: failing) }
        show("\(counter.counts.map { "\($0.key) \($0.value)" })")

        section("Cancelling everything")
        server.route("/slow") { _ in .ok("late").held() }
        let slow = Task { await outcome(of: HTTPRequest(path: "slow"), from: chain) }
        _ = try await server.waitForHeld(count: 1)
        await chain.reset()
        show(await slow.value)
        server.stop()

        section("Testing")
        let terminal = ScriptedTerminal()
        let tested = Validate(.success) --> terminal
        let user = Task { try await tested.load(HTTPRequest(host: "test", path: "/users/7"), as: User.self) }
        let held = await terminal.next()
        terminal.answer(held, body: #"{"name":"Ada"}"#)
        show(try await user.value.name)

        section("Differences")
        section("What you would miss")
    }

    static func refresh() async throws {
        let terminal = ScriptedTerminal { request in
            if request.path == "/session" { return .success(body: #"{"token":"t2","expiresIn":60}"#) }
            let isAuthorized = request.headers["Authorization"] == "Bearer t2"
            return isAuthorized ? .success(.ok, body: "Ada") : .success(.unauthorized)
        }
        let store = MemoryCredentialStore(BearerToken(accessToken: "t1", refreshToken: "r1"))
        let chain = BearerAuth(hosts: ["api.example.com"], source: SessionTokens(), store: store) --> terminal
        let log = EventLog()
        for _ in 1...5 {
            chain.load(request: HTTPRequest(host: "api.example.com", path: "/me")) { log.note(outcome(of: $0)) }
        }
        await log.waitForEvents(5)
        show(Set(log.events).joined(separator: ", "))
        show("refreshed \(terminal.requests.count { $0.path == "/session" }) time")
    }
}
