import Foundation
import LoaderChain
import LoaderChainTesting
import Steps

@main
enum Main {
    static func main() async throws {
        section("One chain per server")
        let mock = MockLoader()
            .on(.get, "/v1/stories/7", body: #"{"id":7,"title":"Hello"}"#)
            .on(.get, "/v1/stories", body: #"[{"id":7,"title":"Hello"}]"#)
            .on(.post, "/v1/stories", .created, body: #"{"id":8,"title":"News"}"#)
            .on(.delete, "/v1/stories/7", .noContent)
        let news = NewsAPI(terminal: mock)
        show(try await news.story(7).title)
        show("\(try await news.publish(Story(title: "News")).id ?? 0)")

        section("GET and POST")
        let list = try await news.chain.load(.get("stories", query: ["page": "2"]), as: [Story].self)
        show("\(list.count)")
        show(await outcome(of: .delete("stories/7"), from: news.chain))

        section("Retrying")
        let flaky = MockLoader().then(.serviceUnavailable).then(.ok, body: "at last")
        let patient = Retry(.exponential(delay: 0.001, maximumNumberOfAttempts: 5)) --> Validate() --> flaky
        show(await outcome(of: HTTPRequest(host: "test"), from: patient))
        var request = HTTPRequest(host: "test")
        request.retryStrategy = .never
        flaky.then(.serviceUnavailable)
        show(await outcome(of: request, from: patient))

        section("Signing in")
        try await withFolder { try await signIn(in: $0) }

        section("Logging")
        let log = EventLog()
        let printing = PrintLoader { log.note("\($0.split(separator: "\n")[0])") } --> MockLoader().then(.ok)
        var secret = HTTPRequest(host: "api.example.com", path: "/me")
        secret.headers["Authorization"] = "Bearer t1"
        _ = try await printing.load(secret)
        show("\(log.events.count) texts, of a secret: \(log.events.contains { $0.contains("t1") })")

        section("Options")
        let held = ScriptedTerminal()
        let loading = Task {
            try await held.load(HTTPRequest(host: "test")) { request in
                request.priority = .low
                request.timeout = .seconds(5)
            }
        }
        let task = await held.next()
        show("\(task.request.priority), \(task.request.timeout ?? .zero)")
        held.answer(task)
        _ = try await loading.value

        section("Cancelling")
        let waiting = NewsAPI(terminal: held)
        let first = Task { await waiting.chain.result(of: .get("search")) }
        _ = await held.next()
        first.cancel()
        show("\(await first.value.error?.code ?? .unknown)")
        let second = Task { await waiting.chain.result(of: .get("search")) }
        _ = await held.next()
        await waiting.chain.reset()
        show("\(await second.value.error?.code ?? .unknown)")

        section("Beside Alamofire and Get")
    }

    static func signIn(in folder: URL) async throws {
        guard let tokens = URL(string: "https://login.example.com/token") else { throw URLError(.badURL) }
        let store = FileCredentialStore<BearerToken>(folder.appending(path: "token"))
        let source = RefreshTokenFlow(endpoint: tokens, client: OAuthClient(id: "my-app"))
        let auth = BearerAuth(hosts: ["api.example.com"], source: source, store: store)
        let terminal = ScriptedTerminal { .success(.ok, body: $0.headers["Authorization"] ?? "nobody") }
        let chain = ApplyEnvironment(host: "api.example.com") --> Retry() --> auth --> Validate() --> terminal
        show(await outcome(of: .get("me"), from: chain))
        try await store.save(BearerToken(accessToken: "t1", refreshToken: "r1"))
        show(await outcome(of: .get("me"), from: chain))
        await chain.reset()
        show(await outcome(of: .get("me"), from: chain))
    }
}
