import LoaderChain
import LoaderChainPlatformFoundation
import TestSizes
import Testing

@testable import LoaderChainTesting

/// Malicious clients.
@Suite(.timeLimit(.minutes(10))) struct LoopbackHostileTests {
    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer(limits: LoopbackLimits(bodyBytes: 1 << 20))
        server.fallback { .ok($0.path) }
        server.route("/alive") { .ok($0.path) }
    }

    /// The server has survived if it still responds.
    private func expectAnswer() throws {
        let client = try LoopbackClient(server)
        client.get("/alive")
        #expect(try client.readReply().text == "/alive")
    }

    @Test(arguments: [
        ("GARBAGE\r\n\r\n", 400), ("GET / HTTP/3.0\r\n\r\n", 505), ("\u{16}\u{3}\u{1}\u{2}\u{0}", 400),
        ("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 400), ("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: br\r\n\r\n", 400),
    ])
    func invalidRequestIsRefusedAndConnectionCloses(_ text: String, _ status: Int) throws {
        let client = try LoopbackClient(server)
        client.send(text)
        let reply = try client.readReply()
        #expect(reply.status.rawValue == status)
        #expect(reply.headers["Connection"] == "close")
        #expect(client.readToEnd() == (Data(), .orderly))
        #expect(server.requests.isEmpty)
        try expectAnswer()
    }

    @Test func refusalClosesOrderlyWhileClientStillSends() throws {
        let client = try LoopbackClient(server)
        client.send("GARBAGE\r\n" + String(repeating: "x", count: 200_000))
        #expect(try client.readReply().status == 400)
        #expect(client.readToEnd() == (Data(), .orderly))
    }

    @Test func endlessHeadIsRefused() throws {
        let client = try LoopbackClient(server)
        client.send("GET / HTTP/1.1\r\n")
        client.send(String(repeating: "X-More: and more\r\n", count: 20_000))
        #expect(try client.readReply().status == 431)
        client.hangUp()
        try expectAnswer()
    }

    @Test func endlessChunkedBodyIsRefused() throws {
        let client = try LoopbackClient(server)
        client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        client.send(String(repeating: chunk, count: 40))
        #expect(try client.readReply().status == 413)
        client.hangUp()
        try expectAnswer()
    }

    @Test func serverSurvivesClientsLeavingAtAnyByte() async throws {
        let large = Data(count: 4 << 20)
        server.route("/large") { _ in .ok(large) }
        let text = Array(
            "POST /large HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                .utf8)
        for cut in 0...text.count {
            let client = try LoopbackClient(server)
            client.send(text[..<cut])
            switch cut % 3 {
            case 0: client.hangUp()
            case 1: client.abort()
            default:
                client.finishSending()
                client.hangUp()
            }
        }
        try await server.waitForConnections(count: text.count + 1)
        try await server.waitForOpenConnections(atMost: 0)
        try expectAnswer()
    }

    @Test func halfClosedClientReceivesReply() throws {
        let client = try LoopbackClient(server)
        client.get("/half")
        client.finishSending()
        #expect(try client.readReply().text == "/half")
        #expect(client.readToEnd() == (Data(), .orderly))
    }

    @Test func serverServesTwoHundredConnectionsAtOnce() async throws {
        server.fallback { .ok($0.path).held() }
        let clients = try (0..<200).map { _ in try LoopbackClient(server) }
        for (index, client) in clients.enumerated() { client.get("/\(index)") }
        try await server.waitForHeld(count: 200)
        #expect(server.openConnections == 200)
        server.release()
        for (index, client) in clients.enumerated() { #expect(try client.readReply().text == "/\(index)") }
        for client in clients { client.hangUp() }
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test func serverAcceptsNoMoreConnectionsThanLimit() async throws {
        let server = try LoopbackServer(limits: LoopbackLimits(connections: 2))
        server.fallback { .ok($0.path) }
        var clients = try (0..<5).map { _ in try LoopbackClient(server) }
        for client in clients { client.get("/") }
        for index in 0..<5 {
            // Only two connections are served, and each that ends lets in one more. A busy system does not hand them over in the order
            // in which they were made.
            try await server.waitForConnections(count: min(5, index + 2))
            #expect(server.openConnections <= 2)
            var served: Int?
            try await eventually("a connection is served") {
                served = clients.firstIndex(where: \.hasBytes)
                return served != nil
            }
            let client = clients.remove(at: try #require(served))
            #expect(try client.readReply().text == "/")
            client.hangUp()
        }
        #expect(server.connectionCount == 5)
    }

    @Test func serverSurvivesFuzzing() async throws {
        server.fallback { .echo($0) }
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let bytes = LoopbackMutation.mutated(using: &random)
            let client = try LoopbackClient(server)
            for piece in LoopbackMutation.cut(bytes, using: &random) { client.send(piece) }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: client.abort()
            case 1: client.hangUp()
            default:
                client.finishSending()
                let answer = client.readToEnd().bytes
                #expect(answer.isEmpty || answer.starts(with: "HTTP/1.1 ".utf8), "seed \(seed)")
            }
        }
        try await server.waitForConnections(count: 300)
        try await server.waitForOpenConnections(atMost: 0)
        try expectAnswer()
    }
}
