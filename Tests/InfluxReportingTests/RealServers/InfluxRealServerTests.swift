#if os(Linux) || os(macOS)
    import Foundation
    import LineProtocol
    import LoaderChain
    import Testing

    @testable import InfluxReporting

    /// Batches written to a real InfluxDB 1; run by `Tests/servers.sh`, and skipped without it.
    @Suite(
        .timeLimit(.minutes(10)),
        .serialized,
        .enabled(
            if: ProcessInfo.processInfo.environment["INFLUX_V1_URL"] != nil,
            "INFLUX_V1_URL is not set; run this under Tests/servers.sh"))
    struct InfluxRealServerTests {
        private let count = realServerPoints

        /// Sends all points of a shape, and expects each batch to be delivered completely.
        private func send(_ shape: Shape, to influx: RealInflux, by sender: BatchSender) async -> [BatchOutcome] {
            var outcomes: [BatchOutcome] = []
            for part in Shape.batches(of: count) { outcomes.append(await sender.send(shape.batch(part))) }
            return outcomes
        }

        private func expectDelivery(_ outcomes: [BatchOutcome]) {
            #expect(outcomes.reduce(0) { $0 + $1.deliveredCount } == count)
            #expect(outcomes.allSatisfy { $0.failure == nil && $0.rejectedCount == 0 })
        }

        @Test(arguments: Shape.allCases, [LineCompression.off, .gzip()])
        func everyPointArrivesAsItWasSent(_ shape: Shape, _ compression: LineCompression) async throws {
            let influx = try await RealInflux()
            let sender = BatchSender(to: try influx.destination(), through: influx.chain, compression: compression)
            let outcomes = await send(shape, to: influx, by: sender)
            expectDelivery(outcomes)
            let sent = outcomes.reduce(0) { $0 + $1.bytesSent }
            if compression != .off { #expect(sent < count * 60) }
            #expect(!outcomes.contains { $0.compressionWasRefused })
            try await influx.expectExactly(shape, count)
        }

        // MARK: Credentials

        @Test func everyPointArrivesWithCredentials() async throws {
            let influx = try await RealInflux(.init(asksForCredentials: true))
            let (user, password) = (RealInflux.user, RealInflux.password)
            let authorizations: [InfluxAuthorization] = [
                .password(password, user: user), .passwordInQuery(password, user: user), .bearer(RealInflux.webToken),
            ]
            let senders = try authorizations.map { BatchSender(to: try influx.destination($0), through: influx.chain) }
            // One after the other.
            for (number, part) in Shape.batches(of: count).enumerated() {
                let outcome = await senders[number % senders.count].send(Shape.service.batch(part))
                #expect(outcome.deliveredCount == part.count)
            }
            try await influx.expectExactly(.service, count)
        }

        @Test func unauthorizedWriteKeepsLines() async throws {
            let influx = try await RealInflux(.init(asksForCredentials: true))
            let lines = Shape.service.batch(0..<10)
            let wrong: [InfluxAuthorization] = [
                .none, .password("wrong", user: RealInflux.user), .bearer("wrong"), .token("wrong"),
            ]
            for authorization in wrong {
                let outcome = await BatchSender(to: try influx.destination(authorization), through: influx.chain).send(
                    lines)
                guard case .refused(.unauthorized, let reason)? = outcome.failure else {
                    Issue.record("\(authorization): \(outcome)")
                    continue
                }
                #expect(!reason.contains("wrong"))
                #expect(outcome.undelivered.count == 10 && outcome.requests == 1)
            }
            let elsewhere = try InfluxDestination.influxDB1(
                influx.url, database: "elsewhere", authorization: .password(RealInflux.password, user: RealInflux.user))
            let outcome = await BatchSender(to: elsewhere, through: influx.chain).send(lines)
            guard case .refused? = outcome.failure else { return void(Issue.record("\(outcome)")) }
        }

        @Test func missingTargetIsRefusedAndKeepsLines() async throws {
            let influx = try await RealInflux()
            let lines = Shape.service.batch(0..<10)
            let missing = [
                try InfluxDestination.influxDB1(influx.url, database: "nowhere"),
                try .influxDB1(influx.url, database: "points", retentionPolicy: "never"),
                // This version has no such path.
                try .influxDB2(influx.url, organization: "o", bucket: "points", authorization: .token("t")),
            ]
            for destination in missing {
                let outcome = await BatchSender(to: destination, through: influx.chain).send(lines)
                guard case .refused? = outcome.failure else {
                    Issue.record("\(destination): \(outcome)")
                    continue
                }
                #expect(outcome.undelivered.count == 10 && outcome.requests == 1)
            }
        }

        // MARK: Limits

        @Test(arguments: Shape.allCases) func everyPointArrivesDespiteSmallBodyLimit(_ shape: Shape) async throws {
            let influx = try await RealInflux(.init(bodyLimit: 100_000))
            let sender = BatchSender(to: try influx.destination(), through: influx.chain, compression: .off)
            let outcomes = await send(shape, to: influx, by: sender)
            expectDelivery(outcomes)
            // The first batch reveals the limit to the others.
            #expect((outcomes.first?.requests ?? 0) > 5)
            try await influx.expectExactly(shape, count)
        }

        // MARK: Bad lines

        @Test(arguments: Shape.allCases) func badLineAmongThousandsIsRejectedAlone(_ shape: Shape) async throws {
            let influx = try await RealInflux()
            let sender = BatchSender(to: try influx.destination(), through: influx.chain)
            var missing: Set<Int> = []
            for part in Shape.batches(of: count, size: 10_000) {
                let bad = part.lowerBound + 7_777 % part.count
                missing.insert(bad)
                let good = shape.batch(part)
                let line = "mixed,t0=a\\,b f0=,f8=\"'\(bad)\n',\""
                let text = (0..<good.count).map { $0 + part.lowerBound == bad ? line : good.text(of: $0) }
                let outcome = await sender.send(batch(text))
                #expect(outcome.rejected.map(\.line) == [line])
                #expect(outcome.rejected.first?.reason.isEmpty == false)
                #expect(outcome.deliveredCount == part.count - 1 && outcome.requests == 1)
            }
            try await influx.expectExactly(shape, count, except: missing)
        }

        @Test func typeConflictsAreFoundBesideOtherBadLines() async throws {
            let influx = try await RealInflux()
            let sender = BatchSender(to: try influx.destination(), through: influx.chain)
            #expect(await sender.send(batch(["m f=1.5 1", "n g=\"a\" 1"])).deliveredCount == 2)
            let outcome = await sender.send(
                batch(["m f=2.5 2", "m f=3i 3", "n g=4 4", "bad", "m f=5.5 5", "m,t=x f=true 6", "n g=\"b\" 7"]))
            #expect(outcome.rejected.map(\.line) == ["m f=3i 3", "n g=4 4", "bad", "m,t=x f=true 6"])
            #expect(outcome.deliveredCount == 3 && outcome.failure == nil)
            #expect(try await influx.query("SELECT f FROM m").dropFirst().map { $0.last } == ["1.5", "2.5", "5.5"])
            #expect(try await influx.query("SELECT g FROM n").dropFirst().map { $0.last } == ["a", "b"])
        }

        /// A new field with two types in one request makes this server reject the whole request without naming a line.
        @Test func typeConflictWithinRequestIsFoundByHalving() async throws {
            let influx = try await RealInflux()
            let sender = BatchSender(to: try influx.destination(), through: influx.chain)
            var lines = (0..<500).map { "new f=\($0).5 \($0)" }
            lines[321] = "new f=\"text\" 321"
            let outcome = await sender.send(batch(lines))
            #expect(outcome.deliveredCount + outcome.rejectedCount == 500 && outcome.failure == nil)
            #expect(outcome.rejected.map(\.line) == [lines[321]])
            #expect(outcome.requests <= 2 * 9 + 1 + 2)
            #expect(try await influx.query("SELECT count(f) FROM new").last?.last == "499")
        }

        @Test func linesBeyondRetentionAreFound() async throws {
            let influx = try await RealInflux()
            _ = try await influx.query("CREATE RETENTION POLICY brief ON points DURATION 1h REPLICATION 1")
            let destination = try InfluxDestination.influxDB1(influx.url, database: "points", retentionPolicy: "brief")
            let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
            let outcome = await BatchSender(to: destination, through: influx.chain).send(
                batch(["m f=1 \(now)", "m f=2 5", "bad", "m f=3 \(now - 1)", "m f=4 6"]))
            #expect(outcome.rejected.map(\.line) == ["m f=2 5", "bad", "m f=4 6"])
            #expect(outcome.deliveredCount == 2)
        }

        @Test func batchOfBadLinesNeedsOneRequest() async throws {
            let influx = try await RealInflux()
            let bad = (0..<2_000).map { "bad\($0)" }
            let outcome = await BatchSender(to: try influx.destination(), through: influx.chain).send(batch(bad))
            #expect(outcome.rejected.map(\.line) == bad)
            #expect(outcome.requests == 1 && outcome.failure == nil)
        }

        @Test func complaintAboutInvalidGzipIsRecognized() async throws {
            let influx = try await RealInflux()
            for bytes in ["m f=1 1\n", "m f=1 1\nm f=2 2\n"] {
                let body = LineBody(bytes: Data(bytes.utf8), isCompressed: true)
                let request = try influx.destination().request(writing: body, in: .milliseconds)
                let said = ServerComplaint(in: try await influx.chain.load(request))
                #expect(said.mayBeAboutCompression, "\(said.message)")
            }
        }

        // MARK: A restart

        @Test(arguments: Shape.allCases) func everyPointArrivesDespiteServerRestart(_ shape: Shape) async throws {
            let influx = try await RealInflux()
            let sender = BatchSender(to: try influx.destination(), through: influx.chain)
            let parts = Shape.batches(of: count, size: 2_000)
            var left: [LineBatch] = []
            for (number, part) in parts.enumerated() {
                let lines = shape.batch(part)
                async let sending = sender.send(lines)
                // Halfway, the server goes down while a batch is in flight, and is still down for the next batch.
                if number == parts.count / 2 { await influx.kill() }
                let outcome = await sending
                #expect(outcome.rejectedCount == 0)
                if !outcome.undelivered.isEmpty {
                    switch outcome.failure {
                    case .offline, .unexpectedAnswer: break  // Depends on how the connection ended.
                    default: return void(Issue.record("\(outcome)"))
                    }
                    left.append(lines.batch(of: outcome.undelivered))
                }
                if number == parts.count / 2 + 1 { try await influx.start() }
            }
            #expect(!left.isEmpty)
            for lines in left { #expect(await sender.send(lines).deliveredCount == lines.count) }
            try await influx.expectExactly(shape, count)
        }

        private func void(_ value: some Any) {}
    }
#endif
