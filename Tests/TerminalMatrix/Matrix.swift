#if os(Linux) || os(macOS)
    import LoaderChain
    import LoaderChainPlatformFoundation
    import LoaderChainTesting
    import TestServers

    /// Runs the cases of the matrix with a terminal.
    package struct Matrix: Sendable {
        /// How many cases run at once: enough to wait for several servers, and few enough for a small machine.
        private static let width = 16

        private let terminal: MatrixTerminal
        private let servers: MatrixServers

        /// Prepares a run, and starts the servers that all cases share.
        package init(_ terminal: MatrixTerminal) async throws {
            self.terminal = terminal
            servers = try await MatrixServers()
        }

        /// Runs all cases, and describes those that end otherwise than expected.
        package func surprises() async throws -> [String] {
            try await withThrowingTaskGroup(of: String?.self) { tasks in
                var surprises: [String] = []
                for (index, row) in MatrixGroup.allCases.flatMap(\.cases).enumerated() {
                    if index >= Self.width, let surprise = try await tasks.next() ?? nil { surprises.append(surprise) }
                    tasks.addTask { try await self.surprise(of: row) }
                }
                for try await case let surprise? in tasks { surprises.append(surprise) }
                return surprises
            }
        }

        private func surprise(of row: MatrixCase) async throws -> String? {
            let expected = row.expectation(of: terminal.name)
            guard let outcome = try await outcome(of: row, isDangerous: expected.end == .crash) else { return nil }
            if outcome.meets(expected) { return nil }
            return "\(row.group) \(row.name): \(outcome), and not \(expected)"
        }

        /// What comes of a case; nil where a server that it needs is not installed.
        private func outcome(of row: MatrixCase, isDangerous: Bool) async throws -> MatrixOutcome? {
            var surroundings = MatrixTerminal.Surroundings()
            surroundings.isDangerous = isDangerous
            func load(_ url: URL?) async throws -> MatrixOutcome {
                var request = HTTPRequest()
                request.url = url
                row.change(&request)
                return MatrixOutcome(try await terminal.load(request, surroundings))
            }
            switch row.answer {
            case .reply(let reply):
                let server = try LoopbackServer()
                server.fallback(reply)
                var outcome = try await load(server.url("/"))
                outcome.sent = server.requests.map(Self.line)
                return outcome
            case .end(let isProxy):
                let server = try LoopbackServer { client in
                    // It reads what was sent, because closing the connection would reset it otherwise.
                    if isProxy { _ = client.readHead() } else { _ = client.receive(16 << 10) }
                }
                defer { server.stop() }
                if isProxy { surroundings.proxy = server.port }
                return try await load(
                    URL(string: "http://\(isProxy ? "example.invalid" : "127.0.0.1"):\(server.port)/"))
            case .nothing:
                return try await load(URL(string: "http://127.0.0.1:\(freePort())/"))
            case .tls(let identity):
                guard let server = servers[identity] else { return nil }
                surroundings.authority = servers.authority(for: identity)
                return try await load(URL(string: "https://localhost:\(server.port)/page"))
            case .tunnel(let identity, let head):
                guard let server = servers[identity] else { return nil }
                let proxy = try LoopbackServer.tunnel(to: server.port, answering: head)
                defer { proxy.stop() }
                surroundings.authority = servers.authority(for: identity)
                surroundings.proxy = proxy.port
                return try await load(URL(string: "https://localhost:\(server.port)/page"))
            case .proxy(let reply):
                let proxy = try LoopbackServer()
                proxy.fallback(reply)
                surroundings.proxy = proxy.port
                var outcome = try await load(URL(string: "http://example.invalid/"))
                outcome.sent = proxy.requests.map(Self.line)
                return outcome
            }
        }

        private static func line(_ request: LoopbackRequest) -> String {
            let body = request.body.isEmpty ? "" : " with \(request.body.count) bytes"
            return "\(request.method) \(request.target)\(body)"
        }
    }
#endif
