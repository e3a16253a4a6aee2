#if os(Linux) || os(macOS)
    import DurableFiles
    import DurableFilesTesting
    import Foundation
    import LineProtocol
    import LoaderChain
    import LoaderChainTesting
    import TestProcesses
    import TestSizes
    import Testing

    @testable import InfluxReporting

    /// A real process, killed repeatedly at random moments, while a server fails at random.
    ///
    /// `INFLUX_KILLS` sets the number of kills.
    @Suite(.timeLimit(.minutes(10))) struct WriterKillTests {
        private static let kills = testSize("INFLUX_KILLS", usually: 12, atLeast: 3)

        /// The server's state.
        private struct Ledger {
            /// The points that it accepted, with the number of times.
            var taken: [String: Int] = [:]
            var faults: [String] = []

            mutating func note(_ body: Data, isTaken: Bool) {
                var decoder = LineDecoder()
                var results: [Result<Point, LineDecodingError>] = []
                decoder.decode(body) { results.append($0) }
                decoder.finish { results.append($0) }
                for result in results {
                    guard let point = try? result.get(), let id = point.tags["id"] else {
                        faults.append("a damaged line was delivered: \(result)")
                        continue
                    }
                    if point != WriterKillTests.point(id) { faults.append("\(id) arrived as another point") }
                    if isTaken { taken[id, default: 0] += 1 }
                }
            }
        }

        @Test func acceptedPointsArriveIntactAfterKills() async throws {
            let directory = try TemporaryDirectory()
            let server = try LoopbackServer()
            defer { server.stop() }
            let ledger = Locked(Ledger())
            let random = RandomSource(seed: 1)
            server.route("/write") { request in
                let weather = random.next() % 10
                ledger.withLock { $0.note(request.body, isTaken: weather > 1) }
                switch weather {
                case 0: return .status(.serviceUnavailable)
                case 1: return .abort()
                // The points were stored, but the response is lost.
                case 2: return .status(.noContent).hangingUp(at: .head(5))
                default: return .status(.noContent)
                }
            }
            var accepted: Set<Substring> = []
            func note(_ line: Substring) {
                if line.hasPrefix("accepted ") { accepted.insert(line.dropFirst(9)) }
                #expect(!line.hasPrefix("wrong "), "\(line)")
            }
            for round in 0..<Self.kills {
                let child = try ChildProcess(directory, port: server.port, prefix: "round\(round)", count: 100)
                let mostLines = Int(random.next() % 220)
                var lines = 0
                while lines < mostLines, let line = await child.output.line(), line != "empty" {
                    lines += 1
                    note(line[...])
                }
                // The output that it wrote before its end counts.
                for line in await child.killed() { note(line) }
            }
            let last = try ChildProcess(directory, port: server.port, prefix: "last", count: 1)
            while let line = await last.output.line(), line != "empty" { note(line[...]) }
            _ = await last.killed()

            let seen = ledger.withLock { $0 }
            #expect(seen.faults == [])
            let lost = accepted.filter { seen.taken[String($0)] == nil }
            #expect(lost == [])
            print(
                """
                \(Self.kills) kills: \(accepted.count) points accepted, \(seen.taken.count) taken by the server, \
                \(seen.taken.values.reduce(0, +) - seen.taken.count) times one was taken again
                """)
            // The remaining files contain only space for lines of a killed process.
            let sender = FakeSender()
            let heir = try InfluxWriter(
                sender: sender, directory: SystemDirectory(directory.url), settings: WriterSettings())
            await heir.shutDown()
            #expect(sender.batches.isEmpty)
            // And files with a line damaged by a kill, which are kept after their intact lines were delivered.
            #expect(directory.names.filter { DamagedFile.block(of: $0) == nil } == ["lock"])
        }

        /// The point that the program writes for an identifier.
        private static func point(_ id: String) -> Point {
            var seed: UInt64 = 0
            for byte in id.utf8 { seed = seed &* 31 &+ UInt64(byte) }
            var generator = SeededGenerator(seed: seed)
            let letters = Array("ab c,=\"\\\n")
            let text = String((0..<Int(generator.next() % 900)).map { _ in letters[Int(generator.next() % 9)] })
            return Point(
                "m", tags: ["id": id], fields: ["text": .string(text)],
                timestamp: Timestamp(nanoseconds: Int64(seed % 1_000_000_007)))
        }
    }

    extension ChildProcess {
        /// Starts the program that writes points and sends them.
        fileprivate convenience init(_ directory: TemporaryDirectory, port: Int, prefix: String, count: Int) throws {
            try self.init(
                ChildProcess.product("OutboxChild"),
                ["points", directory.url.path(percentEncoded: false), "\(port)", prefix, "\(count)"])
        }

        /// Kills it, and returns its remaining output.
        fileprivate func killed() async -> [Substring] {
            send(SIGKILL)
            let rest = await output.rest()
            _ = await end()
            return rest.split(separator: "\n")
        }
    }
#endif
