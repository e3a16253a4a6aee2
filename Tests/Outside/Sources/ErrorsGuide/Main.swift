import Foundation
import LoaderChain
import LoaderChainTesting
import Steps

nonisolated struct User: Codable, Sendable { var name: String }
nonisolated struct Problem: Decodable, Sendable { var title: String }

@main
enum Main {
    static func main() async throws {
        section("What an error has")
        let mock = MockLoader()
            .on(.get, "/users/7", .notFound)
            .on(.get, "/users", body: #"[{"name":"Ada"},{}]"#)
            .on(.post, "/users", .unprocessableContent, body: #"{"title":"The name is taken"}"#)
        let chain = ApplyEnvironment(host: "api.example.com") --> Validate() --> mock
        let missing = await chain.result(of: .get("users/7"))
        if let error = missing.error {
            show("\(error)")
            show("\(error.response?.status ?? .ok), \(error.loader ?? ""), \(error.attempts) attempt")
        }

        section("The codes")
        show("\(await HTTPLoader().result(of: HTTPRequest(host: "test")).error?.code ?? .unknown)")
        show("\(await chain.result(of: .get("none")).isTransientFailure)")

        section("The body of an error")
        do throws(HTTPError) {
            try await chain.load(.post("users", json: User(name: "Ada")))
        } catch {
            let body = error.response?.body ?? Data()
            show(try JSONDecoder().decode(Problem.self, from: body).title)
        }
        let response = try await chain.load(.get("users/7")) { $0.responseCheck = .statuses(200, 404) }
        show("\(response.status)")

        section("Decoding")
        do throws(HTTPError) {
            show("\(try await chain.load(.get("users"), as: [User].self).count)")
        } catch {
            show(error.reason ?? "")
            show("\(error.underlyingError is DecodingError)")
        }

        section("Cancellation")
        let terminal = ScriptedTerminal()
        let loading = Task { await terminal.result(of: HTTPRequest(host: "test")) }
        _ = await terminal.next()
        loading.cancel()
        show("\(await loading.value.error?.code ?? .unknown)")

        section("Typed throws in closures")

        section("Codes of your own")
        let poor = ClosureLoader("wallet") { request, _ in throw HTTPError(.outOfCredit, request: request) }
        show(await outcome(of: HTTPRequest(host: "test"), from: poor --> terminal))
    }
}
