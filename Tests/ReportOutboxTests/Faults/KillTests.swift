#if os(Linux) || os(macOS)
    import DurableFilesTesting
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import ReportOutbox
    import TestProcesses
    import TestSizes
    import Testing

    /// A real process, killed at random moments, repeatedly, while a server fails at random.
    ///
    /// `OUTBOX_KILLS` sets the number of kills.
    @Suite(.timeLimit(.minutes(10))) struct KillTests {
        private static let kills = testSize("OUTBOX_KILLS", usually: 12, atLeast: 3)

        /// The server's reaction to a request.
        private enum Weather: CaseIterable {
            case malformed, notFound, tooLarge, tooMany, failed, unavailable, cut, silent, takenAndCut, takenAndSilent,
                taken

            /// Half of the requests are simply accepted.
            init(_ random: RandomSource) {
                let all = Self.allCases
                self = all[min(Int(random.next() % UInt64(all.count * 2)), all.count - 1)]
            }

            var isTaken: Bool { [.taken, .takenAndCut, .takenAndSilent].contains(self) }

            /// The status of a rejection that makes a report a dead letter.
            var refusal: Int? {
                switch self {
                case .malformed: 400
                case .notFound: 404
                case .tooLarge: 413
                default: nil
                }
            }

            var reply: LoopbackReply {
                switch self {
                case .malformed, .notFound, .tooLarge: .status(HTTPStatus(refusal ?? 400))
                case .tooMany: .tooManyRequests(retryAfter: 1)
                case .failed: .status(.internalServerError)
                case .unavailable: .unavailable(retryAfter: nil)
                case .cut: .abort()
                case .silent, .takenAndSilent: .ok("ok").held()
                // It was accepted, and the outbox does not receive the answer.
                case .takenAndCut: .ok("ok").hangingUp(at: .head(5))
                case .taken: .ok("ok")
                }
            }
        }

        /// The server's view: how often each report arrived, and whether any arrived incomplete.
        private struct Ledger {
            var arrivals: [String: Int] = [:]
            /// The number of times that the server accepted each report.
            var taken: [String: Int] = [:]
            /// The statuses with which the server rejected each report.
            var refused: [String: Set<Int>] = [:]
            var faults: [String] = []
        }

        @Test func acceptedReportsSurviveKillsOfTheProcess() async throws {
            let directory = try TemporaryDirectory()
            let server = try LoopbackServer()
            defer { server.stop() }
            let ledger = Locked(Ledger())
            let random = RandomSource(seed: 1)
            server.route("/reports") { request in
                let key = request.headers["Idempotency-Key"] ?? ""
                let weather = Weather(random)
                ledger.withLock { ledger in
                    ledger.arrivals[key, default: 0] += 1
                    if request.body != Self.content(of: key) { ledger.faults.append("\(key) arrived torn") }
                    if weather.isTaken { ledger.taken[key, default: 0] += 1 }
                    if let status = weather.refusal { ledger.refused[key, default: []].insert(status) }
                }
                return weather.reply
            }
            var accepted: Set<String> = []
            /// The reports that the outbox reported as lost, and the reasons.
            var lost: [String: String] = [:]
            func note(_ line: some StringProtocol) {
                let words = String(line).split(separator: " ").map { String($0) }
                if words.first == "accepted", words.count == 2 { accepted.insert(words[1]) }
                if words.first == "lost", words.count == 3 { lost[words[1]] = words[2] }
                #expect(words.first != "failed", "\(line)")
            }
            for round in 0..<Self.kills {
                let child = try ChildProcess(directory.url, port: server.port, prefix: "round\(round)", count: 4)
                let mostLines = Int(random.next() % 40)
                var lines = 0
                while lines < mostLines, let line = await child.output.line(), line != "empty" {
                    lines += 1
                    note(line)
                }
                // The output before the end of the process counts too.
                for line in await child.kill() { note(line) }
            }
            let last = try ChildProcess(directory.url, port: server.port, prefix: "last", count: 1)
            while let line = await last.output.line(), line != "empty" { note(line) }
            _ = await last.kill()

            let seen = ledger.withLock { $0 }
            #expect(seen.faults == [])
            // A report that was not accepted is a dead letter, because of a rejection by the server.
            let deadLetters = try OutboxInspector(directory: directory.url).reports()
            let reasons = Dictionary(deadLetters.map { ($0.id.rawValue, $0.deadLetterReason ?? "") }) { $1 }
            #expect(accepted.filter { seen.taken[$0] == nil && reasons[$0] == nil } == [])
            for (id, reason) in reasons.merging(lost, uniquingKeysWith: { $1 }) {
                let statuses = seen.refused[id] ?? []
                #expect(statuses.contains { reason == "refused-\($0)" }, "\(id) was lost as \(reason)")
            }
            let (attempts, taken) = (seen.arrivals.values.reduce(0, +), seen.taken.values.reduce(0, +))
            print(
                """
                \(Self.kills) kills: \(accepted.count) reports accepted, \(seen.taken.count) taken by the server, \
                \(taken - seen.taken.count) times one was taken again, in \(attempts) attempts, \
                \(deadLetters.count) dead letters
                """)
            #expect(directory.names.filter { $0.hasPrefix("tmp-") || $0.hasSuffix(".report") } == [])
        }

        @Test func directoryIsInUseUntilOwnerProcessIsKilled() async throws {
            let directory = try TemporaryDirectory()
            let child = try ChildProcess(directory.url, port: 9, prefix: "a", count: 0)
            #expect(await child.output.line() == "open")
            let error = #expect(throws: OutboxError.self) {
                _ = try ReportOutbox(directory: directory.url, chain: HTTPLoader())
            }
            #expect(error?.code == .inUse)
            _ = await child.kill()
            let outbox = try ReportOutbox(directory: directory.url, chain: HTTPLoader(), startsSending: false)
            #expect(outbox.count == 0)
        }

        /// The content for an identifier, as the program submits it.
        private static func content(of id: String) -> Data {
            var seed: UInt64 = 0
            for byte in id.utf8 { seed = seed &* 31 &+ UInt64(byte) }
            var generator = SeededGenerator(seed: seed)
            return Data((0..<Int(generator.next() % 5_000)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }
    }

    extension ChildProcess {
        /// Starts the program that submits and sends.
        fileprivate convenience init(_ directory: URL, port: Int, prefix: String, count: Int) throws {
            try self.init(
                ChildProcess.product("OutboxChild"),
                [directory.path(percentEncoded: false), "\(port)", prefix, "\(count)"])
        }

        /// Kills the process, and returns its remaining output.
        fileprivate func kill() async -> [Substring] {
            send(SIGKILL)
            let rest = await output.rest()
            _ = await end()
            return rest.split(separator: "\n")
        }
    }
#endif
