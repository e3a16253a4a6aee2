import Foundation
import LoaderChain
import LoaderChainTerminal
import LoaderChainTesting
import Steps

struct Article: Codable, Sendable { var title: String }

@main
enum Main {
    static func main() async throws {
        section("Install")

        section("A first request")
        let server = try LoopbackServer()
        server.route("/v1/articles/7", replies: .unavailable(retryAfter: 0), .json(#"{"title":"Hello"}"#))
        server.route("/v1/articles", method: .post) { .json($0.text) }
        let environment = ServerEnvironment(scheme: "http", host: "127.0.0.1", port: server.port, pathPrefix: "/v1")
        let api = ApplyEnvironment(environment: environment) --> Retry() --> Validate() --> SystemTerminal()
        do throws(HTTPError) {
            let article: Article = try await api.load(.get("articles/7"))
            let saved: Article = try await api.load(.post("articles", json: Article(title: "News")))
            show("\(article.title), \(saved.title)")
            try await api.load(.get("none"))
        } catch {
            show("\(error.code): \(error.reason ?? "")")
        }
        await api.reset()
        server.stop()

        section("Why order matters")
        section("Common tasks")
        section("Loaders")

        section("Testing")
        let mock = MockLoader().on(.get, "/articles/7", body: #"{"title":"Hello"}"#)
        let mocked = ApplyEnvironment(host: "test") --> Validate() --> mock
        show(await outcome(of: .get("articles/7"), from: mocked))
        show(await outcome(of: .get("articles/8"), from: mocked))

        section("Modules")
        section("Status and limits")
        section("Documentation")
    }
}
