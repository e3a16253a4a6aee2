import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import LoaderChainURLSession

/// The number of requests in flight, and the fate of the others.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct ConnectionTests {
    private let log = EventLog()

    private func load(_ request: HTTPRequest, with loader: HTTPLoader, _ waits: Waits? = nil) {
        let task = HTTPTask(request: request) { [log] result in
            log.note("\(request.path) \(result.response?.status.rawValue ?? 0) \(result.error?.code.rawValue ?? "")")
        }
        if let waits { task.addWaitObserver(waits) }
        if loader.accept(task) { loader.load(task: task) }
    }

    @Test func sixtyFourRequestsPerHostAreInFlightAtOnce() async throws {
        let site = try Site()
        site.server.fallback { _ in .ok("yes").held() }
        for number in 0..<65 { load(site.request("/\(number)"), with: site.loader) }
        try await site.server.waitForHeld(count: 64)
        #expect(site.loader.details == "in flight 64, waiting 1")
        #expect(Set(site.server.held.map(\.request.path)) == Set((0..<64).map { "/\($0)" }))
        site.server.release()
        try await site.server.waitForHeld(count: 1)
        site.server.release()
        await log.waitForEvents(65)
        #expect(log.events.allSatisfy { $0.hasSuffix(" 200 ") })
        try await site.loader.waitUntilIdle()
    }

    @Test func timeoutOfWaitingRequestStartsAfterItsWait() async throws {
        let (server, timers, waits) = (try LoopbackServer(), ManualTimers(), Waits())
        server.fallback { _ in .ok("yes").held() }
        let loader = TestedTerminal.makeLoader(requestsPerHost: 1, timers: timers)
        load(HTTPRequest(url: server.url("/first")), with: loader)
        try await server.waitForHeld(count: 1)
        var second = HTTPRequest(url: server.url("/second"))
        second.timeout = .seconds(5)
        load(second, with: loader, waits)
        timers.advance(by: .seconds(60))
        #expect(loader.details == "in flight 1, waiting 1" && waits.log.events == ["begins"])
        server.release("/first")
        await log.waitForEvents(1)
        try await server.waitForHeld(count: 1)
        server.release("/second")
        await log.waitForEvents(2)
        #expect(log.events == ["/first 200 ", "/second 200 "])
        #expect(waits.log.events == ["begins", "ends"])
    }

    @Test func waitingRequestsGoByTheirPriority() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok("yes").held() }
        let loader = TestedTerminal.makeLoader(requestsPerHost: 1)
        load(HTTPRequest(url: server.url("/first")), with: loader)
        try await server.waitForHeld(count: 1)
        for priority in [ThrottlePriority.low, .normal, .high] {
            var request = HTTPRequest(url: server.url("/\(priority)"))
            request.priority = priority
            load(request, with: loader)
        }
        #expect(loader.details == "in flight 1, waiting 3")
        for number in 1...4 {
            try await server.waitForHeld(count: 1)
            server.release()
            await log.waitForEvents(number)
        }
        #expect(log.events == ["/first 200 ", "/high 200 ", "/normal 200 ", "/low 200 "])
    }

    /// Otherwise streams of events would keep every other request to their host away.
    @Test func bodyThatIsStillReadTakesNoPlace() async throws {
        let server = try LoopbackServer()
        server.route("/stream") { _ in .ok("hello").ofPlainType.held(at: .body(2)) }
        server.route("/other") { _ in .ok("yes") }
        let loader = TestedTerminal.makeLoader(requestsPerHost: 1)
        var stream = HTTPRequest(url: server.url("/stream"))
        stream.delivery = .chunks
        var chunks = try #require(try await loader.load(stream).chunks).makeAsyncIterator()
        var read = Data()
        while read.count < 2, let chunk = try await chunks.next() { read.append(chunk) }
        #expect(read == Data("he".utf8))
        #expect(try await loader.load(HTTPRequest(url: server.url("/other"))).body == Data("yes".utf8))
        try await server.waitForHeld(count: 1)
        server.release()
        while let chunk = try await chunks.next() { read.append(chunk) }
        #expect(read == Data("hello".utf8))
    }

    @Test func resetEndsWaitingRequests() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in .ok("yes").held() }
        let loader = TestedTerminal.makeLoader(requestsPerHost: 1)
        load(HTTPRequest(url: server.url("/first")), with: loader)
        try await server.waitForHeld(count: 1)
        load(HTTPRequest(url: server.url("/second")), with: loader)
        await loader.reset()
        #expect(log.events.sorted() == ["/first 0 cancelled", "/second 0 resetInProgress"])
        #expect(loader.details == "in flight 0")
    }
}

/// Records when a task waits.
private final class Waits: HTTPTaskWaitObserver {
    let log = EventLog()

    func waitBegan() { log.note("begins") }
    func waitEnded() { log.note("ends") }
    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {}
}
