import LoaderChain
import LoaderChainPlatformC
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct DemoServerTests {
    private func server(connections: Int = 64, patience: Duration = .seconds(600)) throws -> DemoServer {
        try DemoServer(
            seed: 1, outage: .zero, timers: SystemTimers.shared, connections: connections, patience: patience)
    }

    /// A client of bytes, which closes its connection at its end.
    private final class Client {
        private let descriptor: CInt

        init(_ server: DemoServer) throws { descriptor = try #require(LocalSocket.connected(to: server.port)) }

        deinit { close(descriptor) }

        /// Sends a text, and returns false if the server has closed the connection.
        @discardableResult
        func send(_ text: String) -> Bool {
            Array(text.utf8).withUnsafeBytes { LocalSocket.send($0, to: descriptor) == $0.count }
        }

        /// What the server sends until it ends the connection.
        func readAll() -> String {
            var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { bytes += buffer[..<count] }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Whether there is something to read, or the end of the connection.
        var hasNews: Bool {
            var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&look, 1, 0) > 0
        }
    }

    @Test func serverAnswersOneRequestPerConnection() throws {
        let server = try server()
        defer { server.stop() }
        let client = try Client(server)
        client.send("GET /v1/articles/7?x=1 HTTP/1.1\r\nHost: a\r\n")
        client.send("\r\n")
        let answer = client.readAll()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nConnection: close\r\n"), "\(answer)")
        #expect(answer.hasSuffix("\r\n\r\n{\"title\":\"Why we wait\"}"), "\(answer)")
    }

    @Test func documentTurnsChainDownAndUp() async throws {
        let document = DemoSettings()
        let server = try DemoServer(seed: 1, settings: document, outage: .zero, timers: SystemTimers.shared)
        defer { server.stop() }
        let chain = DemoChain(
            port: server.port, seed: 1, sinks: [MetricBoard()], patience: .seconds(600), timers: SystemTimers.shared)
        let run = DemoRun(address: "", duration: .seconds(1))
        var texts: [Substring] = []
        for _ in 1...3 {
            for _ in 1...2 { await chain.settings.refresh() }
            texts.append(chain.snapshot(run).nodes[4].text.prefix { $0 != "," })
            document.turn()
        }
        #expect(
            texts == ["at most 16 at once", "at most 1 at once by revision 1 of the settings", "at most 16 at once"])
        #expect(await chain.settings.revision == 2)
    }

    @Test func overlongRequestHeadIsRejected() throws {
        let server = try server()
        defer { server.stop() }
        let client = try Client(server)
        client.send("GET / HTTP/1.1\r\nLong: " + String(repeating: "x", count: 100_000))
        #expect(client.readAll().hasPrefix("HTTP/1.1 431 "))
    }

    @Test(arguments: ["", "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
    func connectionIsClosedAtTimeLimit(_ text: String) throws {
        let server = try server(patience: .milliseconds(50))
        defer { server.stop() }
        let client = try Client(server)
        client.send(text)
        _ = client.readAll()
        while client.send("more") {}
    }

    @Test func serverLimitsConcurrentConnections() throws {
        let server = try server(connections: 1, patience: .milliseconds(300))
        defer { server.stop() }
        let silent = try Client(server)
        let client = try Client(server)
        client.send("GET / HTTP/1.1\r\n\r\n")
        _ = client.readAll()
        // The other one has had its time, or this one would still wait.
        #expect(silent.hasNews)
    }
}
