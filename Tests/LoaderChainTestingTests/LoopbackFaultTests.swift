import Dispatch
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChainTesting

/// Replies with faults.
@Suite(.timeLimit(.minutes(10))) struct LoopbackFaultTests {
    let server: LoopbackServer
    let client: LoopbackClient

    init() throws {
        server = try LoopbackServer()
        client = try LoopbackClient(server)
    }

    /// All bytes of a reply, and how the connection ended.
    private func receive(_ reply: LoopbackReply) -> (text: String, end: LoopbackClient.End) {
        server.fallback { _ in reply }
        client.get("/")
        let (bytes, end) = client.readToEnd()
        return (String(decoding: bytes, as: UTF8.self), end)
    }

    @Test func serverHangsUpInHead() {
        #expect(receive(.ok("hello").hangingUp(at: .head(12))) == ("HTTP/1.1 200", .orderly))
    }

    @Test func serverHangsUpInBody() {
        #expect(receive(.ok("hello").hangingUp(at: .body(3))) == (LoopbackPlanTests.head + "hel", .orderly))
    }

    @Test func serverHangsUpBeforeFirstByte() {
        #expect(receive(.hangUp()) == ("", .orderly))
    }

    @Test func verbatimReplyIsSentUnchanged() {
        #expect(receive(.verbatim("\0garbage\r\n")) == ("\0garbage\r\n", .orderly))
    }

    @Test func serverResetsBeforeFirstByte() {
        #expect(receive(.abort()) == ("", .reset))
    }

    @Test func serverResetsInBody() {
        let (text, end) = receive(.ok("hello").aborting(at: .body(3)))
        // A reset may overtake the bytes before it.
        #expect((LoopbackPlanTests.head + "hel").hasPrefix(text))
        #expect(end == .reset)
    }

    @Test func drippingReplySendsEveryByte() {
        let reply = LoopbackReply.ok("hello").dripping(7, every: .milliseconds(1)).closing()
        #expect(receive(reply).text.hasSuffix("\r\n\r\nhello"))
    }

    @Test func replyIsDelayedAtLeastAsLongAsRequested() {
        let start = ContinuousClock.now
        #expect(receive(.hangUp().delayed(.seconds(-1))) == ("", .orderly))
        let other = try? LoopbackClient(server)
        server.fallback { _ in LoopbackReply.ok().delayed(.milliseconds(30)).hangingUp(at: .start) }
        other?.get("/")
        _ = other?.readToEnd()
        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }
}

/// Stopping a server.
@Suite(.timeLimit(.minutes(10))) struct LoopbackStopTests {
    /// What a connection is doing when the server is stopped.
    enum Moment: CaseIterable {
        case idle, midHead, midBody, delayed, held, dripping, blockedInWriting
    }

    private func bring(_ client: LoopbackClient, of server: LoopbackServer, to moment: Moment) async throws {
        let requests = server.requests.count + 1
        switch moment {
        case .idle: return
        case .midHead: return client.send("GET / HT")
        case .midBody: return client.send("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc")
        case .delayed: server.fallback { _ in .ok().delayed(.seconds(Int64.max)) }
        case .held: server.fallback { _ in .ok().held() }
        case .dripping: server.fallback { _ in .ok("hello").dripping(1, every: .seconds(3600)) }
        case .blockedInWriting: server.fallback { _ in .ok(Data(count: 32 << 20)) }
        }
        client.get("/")
        try await server.waitForRequests(count: requests)
        if moment == .held { try await server.waitForHeld(count: 1) }
        if moment == .dripping || moment == .blockedInWriting { _ = try client.read(1) }
    }

    @Test(arguments: Moment.allCases)
    func stopClosesConnectionAtAnyMoment(_ moment: Moment) async throws {
        let server = try LoopbackServer()
        let client = try LoopbackClient(server)
        try await server.waitForConnections(count: 1)
        try await bring(client, of: server, to: moment)
        server.stop()
        #expect(server.core.servingThreads == 0)
        #expect(server.openConnections == 0)
        #expect(server.held.isEmpty)
        _ = client.readToEnd()
    }

    @Test func stopClosesListenerAndQueuedConnections() async throws {
        let server = try LoopbackServer(limits: LoopbackLimits(connections: 1))
        let first = try LoopbackClient(server)
        try await server.waitForConnections(count: 1)
        let second = try LoopbackClient(server)
        server.stop()
        #expect(server.connectionCount == 1)
        #expect(second.readToEnd() == (Data(), .reset))
        #expect(first.readToEnd().bytes.isEmpty)
    }

    @Test func concurrentStopsCloseAllConnections() async throws {
        let server = try LoopbackServer()
        var clients: [LoopbackClient] = []
        for moment in Moment.allCases + Moment.allCases where moment != .held {
            let client = try LoopbackClient(server)
            clients.append(client)
            try await bring(client, of: server, to: moment)
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { server.stop() } }
        }
        server.stop()
        #expect(server.openConnections == 0)
        for client in clients { _ = client.readToEnd() }
    }

    @Test func serverStopsWithItsLastReference() async throws {
        var server: LoopbackServer? = try LoopbackServer()
        let client = try LoopbackClient(#require(server))
        server?.fallback { _ in .ok().held() }
        client.get("/")
        try await server?.waitForHeld(count: 1)
        let core = try #require(server?.core)
        server = nil
        #expect(core.servingThreads == 0)
        #expect(core.ledger.read(\.openConnections) == 0)
        #expect(client.readToEnd().bytes.isEmpty)
    }

    @Test func routeMayStopItsServer() async throws {
        let server = try LoopbackServer()
        server.fallback { _ in
            server.stop()
            return .ok()
        }
        let client = try LoopbackClient(server)
        client.get("/")
        #expect(client.readToEnd().bytes.isEmpty)
        server.stop()
        #expect(server.core.servingThreads == 0)
    }

    @Test func routeMayHoldLastReferenceToServer() async throws {
        let (entrances, entrance) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        var server: LoopbackServer? = try LoopbackServer()
        let core = try #require(server?.core)
        server?.fallback { [weak server] _ in
            withExtendedLifetime(server) {
                entrance.finish()
                gate.wait()
            }
            return .ok()
        }
        let client = try LoopbackClient(#require(server))
        client.get("/")
        for await _ in entrances {}
        server = nil
        #expect(!core.ledger.read(\.isStopped))
        gate.signal()
        #expect(client.readToEnd().bytes.isEmpty)
        try await core.wait(outlivingServer: true) { $0.openConnections == 0 }
        #expect(core.ledger.read(\.isStopped))
    }

    @Test func byteServerStopsWithoutWaitingForHandler() throws {
        let gate = DispatchSemaphore(value: 0)
        var server: LoopbackServer? = try LoopbackServer { client in
            var buffer = [UInt8](repeating: 0, count: 1)
            guard let byte = client.receive(into: &buffer), client.send(Data(byte + byte)) else { return }
            gate.wait()
        }
        let client = try LoopbackClient(#require(server))
        client.send("a")
        #expect(try client.read(2) == Data("aa".utf8))
        let core = try #require(server?.core)
        server = nil
        #expect(core.ledger.read(\.isStopped))
        #expect(core.servingThreads == 1)
        gate.signal()
        #expect(client.readToEnd() == (Data(), .orderly))
    }

    @Test func stoppedServerReleasesItsRoutes() throws {
        final class Witness: Sendable {}
        weak var weakWitness: Witness?
        let server = try LoopbackServer()
        do {
            let witness = Witness()
            weakWitness = witness
            server.fallback { _ in withExtendedLifetime((witness, server)) { .ok() } }
        }
        #expect(weakWitness != nil)
        server.stop()
        #expect(weakWitness == nil)
    }
}
