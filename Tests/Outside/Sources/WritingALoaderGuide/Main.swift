import Foundation
import LoaderChain
import LoaderChainTesting
import Steps

@main
enum Main {
    static func main() async throws {
        section("1. A closure")
        let traced = ScriptedTerminal { .success(.ok, body: $0.headers["X-Trace"] ?? "none") }
        show(
            await outcome(
                of: HTTPRequest(host: "test"), from: ModifyRequest { $0.headers["X-Trace"] = "t1" } --> traced))
        let halfDown = ScriptedTerminal { request in
            request.host == "main" ? .failure(.cannotConnect) : .success(.ok, body: request.host ?? "")
        }
        show(await outcome(of: HTTPRequest(host: "main"), from: fallback(to: "other") --> halfDown))

        section("2. An async method")
        let tagged = ScriptedTerminal { request in
            request.headers["If-None-Match"] == "e1"
                ? .success(.notModified) : .success(.ok, headers: ["ETag": "e1"], body: "the news")
        }
        let revalidating = Revalidate() --> tagged
        for _ in 1...2 { show(await outcome(of: HTTPRequest(host: "test"), from: revalidating)) }
        show("asked with \(tagged.requests.map { $0.headers["If-None-Match"] ?? "nothing" }.joined(separator: ", "))")

        section("3. Override `load(task:)`")
        let version = ScriptedTerminal { .success(.ok, body: $0.headers["X-Client-Version"] ?? "none") }
        show(await outcome(of: HTTPRequest(host: "test"), from: VersionHeader("7") --> version))

        section("Options")
        var request = HTTPRequest(host: "test")
        show("\(request.logging)")
        request.logging = .full
        show("\(request.logging)")

        section("The rules for a loader")
        try await pass(Gate())

        section("More than one execution")
        let flaky = MockLoader().then(.serviceUnavailable).then(.ok, body: "the second time")
        show(await outcome(of: HTTPRequest(host: "test"), from: Twice() --> flaky))
        let timers = ManualTimers()
        let slow = ScriptedTerminal()
        async let hedged = outcome(
            of: HTTPRequest(host: "test"), from: SecondAttempt(after: .seconds(1), timers: timers) --> slow)
        await timers.waitForPending(count: 1)
        timers.advance(by: .seconds(1))
        _ = await slow.next()
        slow.answer(await slow.next(), body: "the second attempt")
        show(await hedged)

        section("Checking a response")
        let page = MockLoader().then(.ok, headers: ["Content-Type": "text/html"], body: "<p>Sign in</p>")
        show(await outcome(of: HTTPRequest(host: "test"), from: JSONOnly() --> page))

        section("Testing it")
        try await test()

        section("Subclassing for speed")
        let counter = InFlightCounter()
        let held = ScriptedTerminal()
        let chain = counter --> held
        let loading = Task { try await chain.load(HTTPRequest(host: "test")) }
        let task = await held.next()
        show("\(counter)")
        held.answer(task)
        _ = try await loading.value
        show("\(counter)")
    }

    /// Lets one waiting task pass, and cancels and resets others.
    static func pass(_ gate: Gate) async throws {
        let terminal = ScriptedTerminal { _ in .success(.ok, body: "through") }
        let chain = gate --> terminal
        let log = EventLog()
        let task = chain.load(request: HTTPRequest(host: "test")) { log.note("cancelled: \(outcome(of: $0))") }
        task.cancel()
        chain.load(request: HTTPRequest(host: "test")) { log.note("reset: \(outcome(of: $0))") }
        await chain.reset()
        chain.load(request: HTTPRequest(host: "test")) { log.note("opened: \(outcome(of: $0))") }
        gate.open()
        await log.waitForEvents(3)
        for event in log.events { show(event) }
    }

    static func test() async throws {
        let terminal = ScriptedTerminal()
        let chain = ClosureLoader { try await $1($0) } --> terminal
        let log = EventLog()
        let task = chain.load(request: HTTPRequest(host: "test")) { log.note(outcome(of: $0)) }
        let held = await terminal.next()
        task.cancel()
        show("is cancelled: \(held.isCancelled)")
        await log.waitForEvents(1)
        show(log.events[0])

        let makers: [(String, @Sendable (any Timers) -> HTTPLoader)] = [
            ("a closure", { _ in ClosureLoader { try await $1($0) } }),
            ("VersionHeader", { _ in VersionHeader("1") }),
            ("fallback", { _ in fallback(to: "other") }),
            ("Revalidate", { _ in Revalidate() }),
            ("Twice", { _ in Twice() }),
            ("JSONOnly", { _ in JSONOnly() }),
            ("InFlightCounter", { _ in InFlightCounter() }),
            ("an open gate", { _ in openGate() }),
        ]
        for (name, make) in makers {
            let violations = await ContractCheck(tasks: 200) { make($0) }.run()
            show("\(name): \(violations.isEmpty ? "keeps the contract" : "\(violations)")")
        }

        let server = try LoopbackServer()
        server.route("/broken") { _ in .ok("never whole").hangingUp(at: .body(3)) }
        show(server.url("/broken").path())
        server.stop()
    }

    static func openGate() -> Gate {
        let gate = Gate()
        gate.open()
        return gate
    }
}
