import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import Steps

@main
enum Main {
    static func main() async throws {
        section("What you wrote, what you write now")

        section("The chain of the articles")
        let server = try LoopbackServer()
        server.route("/v1/people", replies: .unavailable(retryAfter: 0), .ok("everybody"))
        let environment = ServerEnvironment(scheme: "http", host: "127.0.0.1", port: server.port, pathPrefix: "/v1")
        let chain =
            ResetGuard() --> Autocancel() --> Throttle(maximumNumberOfRequests: 4)
            --> ApplyEnvironment(environment: environment)
            --> Retry(strategy: Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 3))
            --> URLSessionLoader()
        let log = EventLog()
        chain.load(request: HTTPRequest(path: "people")) { log.note(outcome(of: $0)) }
        await log.waitForEvents(1)
        show(log.events[0])
        show("\(try await chain.load(HTTPRequest(path: "people")).status)")
        await chain.reset()
        show("\(chain)".split(separator: " --> ").map { $0.prefix { $0 != "(" } }.joined(separator: " "))
        server.stop()

        section("Your own loaders")
        let violations = await ContractCheck { _ in OneAtATime() }.run()
        show(violations.isEmpty ? "OneAtATime keeps the contract" : "\(violations)")
        let terminal = ScriptedTerminal()
        let one = OneAtATime() --> terminal
        for _ in 1...3 { one.load(request: HTTPRequest(host: "test")) { log.note(outcome(of: $0)) } }
        show("\(terminal.requests.count) of 3 is sent")
        for _ in 1...3 { terminal.answer(await terminal.next()) }
        await log.waitForEvents(4)
        show("\(terminal.requests.count) were sent")

        section("Options")
        var request = HTTPRequest(host: "test")
        show("\(request.freshness)")
        request.freshness = .mustBeFresh
        show("\(request.freshness)")

        section("Typed requests")
        let planets = ScriptedTerminal { .success(.ok, body: #"{"name":"\#($0.path)"}"#) }
        let connection = ServerConnection(
            chain: ApplyEnvironment(environment: ServerEnvironment(host: "test")) --> Validate() --> planets)
        show(try await connection.load(.planet(1)).name)

        section("Differences, and their reasons")
        section("What else there is")
    }
}
