import Foundation
import InfluxReporting
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import Steps

struct User: Codable, Sendable { var name: String }

@main
enum Main {
    static func main() async throws {
        section("Try it")

        section("A first chain")
        let server = try LoopbackServer()
        server.route("/v1/status") { _ in .ok("well") }
        server.route("/v1/me", replies: .unavailable(retryAfter: 0), .json(#"{"name":"Ada"}"#))
        let environment = ServerEnvironment(scheme: "http", host: "127.0.0.1", port: server.port, pathPrefix: "/v1")
        let chain =
            ResetGuard() --> Autocancel() --> Throttle(maximumNumberOfRequests: 4)
            --> ApplyEnvironment(environment: environment)
            --> Retry(strategy: Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 3)) --> Validate()
            --> URLSessionLoader()
        let response = try await chain.load(HTTPRequest(path: "status"))
        let user = try await chain.load(HTTPRequest(path: "me"), as: User.self)
        show("\(response.status), \(user.name)")
        show("\("\(chain)".contains("Throttle(limit 4, running 0"))")
        await chain.reset()
        server.stop()

        section("A loader of your own")
        let logged = SlowRequests() --> ScriptedTerminal { _ in .success(.ok, body: "quick") }
        show(await outcome(of: HTTPRequest(host: "test"), from: logged))
        show("\((await ContractCheck { _ in SlowRequests() }.run()).count) violations")

        section("apihealth")

        section("A metric to InfluxDB")
        try await withFolder { folder in
            guard let address = URL(string: "https://influx.example.com") else { return }
            let database = ScriptedTerminal { _ in .success(.noContent) }
            let influx = try InfluxDestination.influxDB2(
                address, organization: "acme", bucket: "health", authorization: .token("t1"))
            let writer = try InfluxWriter(destination: influx, chain: database, directory: folder)
            let measured =
                MetricsTap(MetricRecorder(writer), module: "shop") --> Validate()
                --> ScriptedTerminal { _ in .success() }
            _ = try await measured.load(HTTPRequest(host: "api.example.com", path: "/users/17"))
            await writer.flush()
            let body = try database.requests[0].body.encode().data(upTo: 10_000)
            let line = String(decoding: body, as: UTF8.self)
            show(line.prefix { $0 != " " }.description)
            let fields = line.split(separator: " ")[1].split(separator: ",").map { $0.prefix { $0 != "=" } }
            show(fields.joined(separator: ", "))
            await writer.shutDown()
        }

        section("What is in it")
        section("Guarantees")
        section("Comparison")
        section("Installation")
        section("Systems")
        section("Limits")
        section("Documentation")
    }
}
