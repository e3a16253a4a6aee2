#if os(Linux)
    import Foundation
    import FoundationNetworking
    import LoaderChainTesting
    import TestServers
    import Testing

    @testable import LoaderChain
    @testable import LoaderChainURLSession

    /// The effect of a proxy's answer to CONNECT, which the session delivers like a response.
    ///
    /// libcurl finds the proxy in the environment, so these requests are sent by a separate process.
    @Suite(.timeLimit(.minutes(10))) struct ProxyTests {
        private func load(_ url: String, through proxy: Int, _ delivery: String) async throws -> String {
            let outcome = try await runFaults(
                "load", url, delivery, environment: ["https_proxy": "http://127.0.0.1:\(proxy)", "no_proxy": ""])
            return outcome.output
        }

        @Test(arguments: [407, 502, 403], ["memory", "chunks"])
        func refusedTunnelFailsAsCannotConnect(_ status: Int, _ delivery: String) async throws {
            let proxy = try LoopbackServer { client in
                _ = client.readHead()
                client.send(
                    "HTTP/1.1 \(status) No\r\nContent-Type: text/html\r\nProxy-Authenticate: Basic realm=\"p\"\r\n"
                        + "Content-Length: 5\r\n\r\n<hr/>")
                _ = client.readHead()
            }
            let output = try await load("https://example.invalid/", through: proxy.port, delivery)
            #expect(output.hasPrefix("cannotConnect nil"), "\(output)")
            #expect(output.contains("\(status)"), "\(output)")
        }

        @Test(arguments: ["memory", "chunks"])
        func untrustedServerBehindProxyIsRejected(_ delivery: String) async throws {
            guard let server = try await SelfSignedServer() else { return }
            let proxy = try LoopbackServer.tunnel(
                to: server.port, answering: "HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n")
            let output = try await load("https://localhost/", through: proxy.port, delivery)
            #expect(output.hasPrefix("insecureConnection nil"), "\(output)")
            #expect(output.contains("certificate"), "\(output)")
        }

        @Test func unreachableProxyFailsAsCannotConnect() async throws {
            let output = try await load("https://example.invalid/", through: try freePort(), "chunks")
            #expect(output.hasPrefix("cannotConnect nil"), "\(output)")
        }

        // MARK: The owner of a head, without a network

        private static let established: [String: String] = ["Via": "1.1 proxy"]

        /// An exchange that may use a tunnel, and receives the session's events by hand.
        private func transfer(_ delivery: ResponseDelivery) throws -> (HTTPTask, Exchange, SessionTransfer) {
            let settings = SessionSettings(.ephemeral, environment: ["https_proxy": "http://127.0.0.1:1"])
            var request = HTTPRequest(scheme: "https", host: "example.invalid")
            request.delivery = delivery
            let task = HTTPTask(request: request)
            let transport = SessionTransport(settings, timers: SystemTimers.shared)
            let limits = ExchangeOwner.Settings(
                headers: [:], timeout: .seconds(3600), resourceTimeout: .seconds(3600), nameOfResourceTimeout: "none",
                responseSizeLimit: 100)
            let owner = ExchangeOwner(limits, over: transport, timers: SystemTimers.shared)
            let exchange = Exchange(task, by: "Test", on: owner)
            let transfer = transport.session.makeTransfer(
                URLRequest(url: try #require(request.url)), try #require(OutgoingBody(.empty)), for: exchange, settings,
                at: owner.timers.now)
            #expect(exchange.begin(transfer))
            return (task, exchange, transfer)
        }

        private func response(of task: HTTPTask) async throws -> HTTPResponse {
            try await withCheckedContinuation { continuation in
                task.addCompletionHandler { continuation.resume(returning: $0) }
            }.get()
        }

        private func head(_ status: Int, _ fields: [String: String]) -> URLResponse {
            HTTPURLResponse(
                url: URL(string: "https://example.invalid")!, statusCode: status, httpVersion: "HTTP/1.1",
                headerFields: fields)!
        }

        @Test(arguments: [ResponseDelivery.inMemory, .chunks])
        func originHeadReplacesProxyHead(_ delivery: ResponseDelivery) async throws {
            let (task, exchange, transfer) = try transfer(delivery)
            transfer.receive(head(200, Self.established))
            #expect(exchange.head == nil)
            transfer.receive(head(404, ["X-Origin": "1"]))
            transfer.receive(Data("not here".utf8))
            transfer.ended(nil, nil)
            let response = try await self.response(of: task)
            #expect(response.status == .notFound)
            #expect(response.headers["X-Origin"] == "1")
            let body = try await response.chunks?.collect(upTo: 100) ?? response.body
            #expect(body == Data("not here".utf8))
        }

        @Test func headWithContentTypeIsDeliveredAtOnce() async throws {
            let (task, _, transfer) = try transfer(.chunks)
            transfer.receive(head(200, Self.established))
            transfer.receive(head(200, ["Content-Type": "text/event-stream"]))
            let response = try await self.response(of: task)
            #expect(response.headers["Content-Type"] == "text/event-stream")
            transfer.ended(nil, nil)
            #expect(try await response.chunks?.collect(upTo: 100) == Data())
        }

        @Test func secondHeadAfterDeliveryFailsChunks() async throws {
            let (task, _, transfer) = try transfer(.chunks)
            transfer.receive(head(200, ["Content-Type": "text/html"]))
            let response = try await self.response(of: task)
            transfer.receive(head(200, ["Content-Type": "text/plain"]))
            transfer.ended(nil, URLError(.cancelled))
            let error = await #expect(throws: HTTPError.self) { try await response.chunks?.collect(upTo: 100) }
            #expect(error?.code == .invalidResponse)
        }

        @Test func emptyResponseOnKeptTunnelIsDelivered() async throws {
            let (task, _, transfer) = try transfer(.chunks)
            transfer.receive(head(200, ["Content-Length": "0", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]))
            transfer.ended(nil, nil)
            #expect(try await response(of: task).status == .ok)
        }

        @Test(arguments: [ResponseDelivery.inMemory, .chunks], [204, 201])
        func successWithoutDateOnKeptTunnelIsDelivered(_ delivery: ResponseDelivery, _ status: Int) async throws {
            let (task, _, transfer) = try transfer(delivery)
            transfer.receive(head(status, [:]))
            transfer.ended(head(status, [:]), nil)
            #expect(try await response(of: task).status == HTTPStatus(status))
        }

        @Test(arguments: [200, 204, 407])
        func originHeadIsDeliveredWithAnyStatus(_ status: Int) async throws {
            let (task, _, transfer) = try transfer(.inMemory)
            transfer.receive(head(200, Self.established))
            transfer.receive(head(status, ["X-Origin": "1"]))
            transfer.ended(nil, nil)
            let response = try await response(of: task)
            #expect(response.status == HTTPStatus(status))
            #expect(response.headers["X-Origin"] == "1")
        }

        @Test(arguments: [StopReason.cancelled, nil])
        func lateHeadDeliversNoChunks(_ reason: StopReason?) async throws {
            let (task, exchange, transfer) = try transfer(.chunks)
            if let reason {
                _ = exchange.state.withLock { $0.stop(reason) }
            } else {
                exchange.fail(TransferFailure(.timedOut, nil))
            }
            transfer.receive(head(200, ["Content-Type": "text/plain"]))
            transfer.receive(Data("late".utf8))
            #expect(exchange.leg.sink == nil)
            transfer.ended(nil, URLError(.cancelled))
            let error = await #expect(throws: HTTPError.self) { try await response(of: task) }
            #expect(error?.code == (reason == nil ? .timedOut : .cancelled))
        }

        /// Some proxies announce a length of zero with a success response.
        @Test(arguments: [established, ["Content-Length": "0"]])
        func redirectHiddenBySessionIsInvalidResponse(_ fields: [String: String]) async throws {
            let (task, _, transfer) = try transfer(.inMemory)
            // The session shows the proxy's answer once more at the end.
            transfer.receive(head(200, fields))
            transfer.ended(head(200, fields), nil)
            let error = await #expect(throws: HTTPError.self) { try await response(of: task) }
            #expect(error?.code == .invalidResponse)
        }

        /// What a session reports as a cancel is no decision of the user.
        @Test func refusedCertificateIsInsecureConnection() async throws {
            let (task, _, transfer) = try transfer(.inMemory)
            transfer.refuseTrust()
            transfer.ended(nil, URLError(.cancelled))
            let error = await #expect(throws: HTTPError.self) { try await response(of: task) }
            #expect(error?.code == .insecureConnection)
        }

        @Test func proxyAnswerNeedsProxyForHTTPS() {
            #expect(!ProxyAnswer.isPossible(in: ["http_proxy": "http://a", "https_proxy": ""]))
            #expect(ProxyAnswer.isPossible(in: ["ALL_PROXY": "http://a"]))
        }
    }
#endif
