import LineProtocol
import LoaderChain
import LoaderChainTesting
import Testing

@testable import InfluxReporting

/// When points are sent.
@Suite(.timeLimit(.minutes(10))) struct LeavingTests {
    @Test func pointsAreSentAfterIdleInterval() async {
        let sender = FakeSender()
        let test = TestWriter(sender)
        test.write(1)
        test.timers.advance(by: .seconds(4))
        test.write(2)
        test.timers.advance(by: .milliseconds(4_999))
        #expect(sender.count == 0)
        test.timers.advance(by: .milliseconds(1))
        await test.waitForEvents(1)
        #expect(sender.batches == [[TestWriter.line(1), TestWriter.line(2)]])
        #expect(test.events == [.delivered(2)])
    }

    @Test func steadyTrafficIsSentByAge() async throws {
        let sender = FakeSender()
        let test = TestWriter(sender)
        for number in 0..<600 {
            test.write(number)
            // The thread of a response may set the timer.
            try await test.settle()
            test.timers.advance(by: .milliseconds(100))
            // A batch is in flight for a moment, which this manual clock does not measure.
            await test.waitForEvents((number + 1) / 150)
        }
        #expect(sender.batches.map(\.count) == [150, 150, 150, 150])
        let isInOrder = sender.batches.flatMap(\.self) == TestWriter.lines(0..<600)
        #expect(isInOrder)
        #expect(test.timers.pendingCount == 0)
    }

    @Test func batchIsSentWhenPointLimitIsReached() async {
        let sender = FakeSender()
        let test = TestWriter(sender) { $0.batchPoints = 10 }
        for number in 0..<25 {
            test.write(number)
            await test.waitForEvents((number + 1) / 10)
        }
        #expect(sender.batches.map(\.count) == [10, 10])
        test.timers.advance(by: .seconds(5))
        await test.waitForEvents(3)
        #expect(sender.batches.flatMap(\.self) == TestWriter.lines(0..<25))
    }

    @Test func batchIsSentWhenByteLimitIsReached() async {
        let sender = FakeSender()
        let test = TestWriter(sender) { $0.batchBytes = 50_000 }
        let text = String(repeating: "x", count: 1_000)
        for _ in 0..<60 { test.writer.write(Point("m", fields: ["text": .string(text)])) }
        await test.waitForEvents(1)
        let bytes = sender.batches[0].reduce(0) { $0 + $1.utf8.count + 1 }
        #expect(bytes > 25_000 && bytes <= 50_000)
    }

    @Test func pointDuringDeliveryWaitsForNextBatch() async {
        let sender = HeldSender()
        let test = TestWriter(sender)
        test.write(1)
        test.timers.advance(by: .seconds(5))
        await sender.waitForEvents(1)
        test.write(2)
        test.timers.advance(by: .seconds(60))
        #expect(test.writer.engine.state.withLock { $0.batching.inFlight.count } == 1)
        #expect(test.statistics.batches == 1)
        sender.answer()
        await sender.waitForEvents(2)
        sender.answer()
        await test.waitForEvents(2)
        #expect(test.events == [.delivered(1), .delivered(1)])
        #expect(test.timers.pendingCount == 0)
    }

    @Test func severalBatchesCanBeInFlight() async {
        let sender = HeldSender()
        let test = TestWriter(sender) {
            $0.maximumInFlight = 2
            $0.batchPoints = 1
        }
        for number in 0..<3 { test.write(number) }
        await sender.waitForEvents(2)
        #expect(test.statistics.held == 3)
        sender.answer()
        await sender.waitForEvents(3)
        sender.answer()
        sender.answer()
        await test.waitForEvents(3)
        #expect(test.statistics.delivered == 3)
    }

    /// A batch has points of others too.
    @Test func batchIsNotSentInTraceOfWhoeverTriggersIt() async {
        let traces = Locked<[HTTPTraceContext?]>([])
        let sender = FakeSender { batch in
            traces.withLock { $0.append(HTTPTraceContext.current) }
            return FakeSender.delivered(batch)
        }
        let test = TestWriter(sender) { $0.batchPoints = 1 }
        await HTTPTraceContext.$current.withValue(HTTPTraceContext()) {
            for number in 0..<2 { test.write(number) }
            await test.waitForEvents(2)
        }
        let seen = traces.withLock { $0 }
        #expect(seen.count == 2 && seen.allSatisfy { $0 == nil })
    }

    @Test func emptyWriterSendsNothing() async {
        let sender = FakeSender()
        let test = TestWriter(sender)
        test.timers.advance(by: .seconds(100))
        let report = await test.writer.flush()
        #expect(report == FlushReport())
        #expect(sender.count == 0)
        #expect(test.timers.pendingCount == 0)
    }

    @Test func missingTimestampIsSetWhenPointIsWritten() async {
        let sender = FakeSender()
        let test = TestWriter(sender)
        let point = Point("m", fields: ["i": 1])
        test.writer.write(point)
        test.writer.write(point)
        test.timers.advance(by: .seconds(1))
        test.writer.write(test.writer.series("m")) { $0.set("i", 2) }
        test.writer.write("m") {
            $0.set("a", "b")
        } fields: {
            $0.set("i", 3)
        }
        await test.writer.flush()
        let date = Int64(ManualTimers.defaultDate.timeIntervalSince1970) * 1_000_000_000
        let times = sender.batches[0].map { Int64($0.split(separator: " ").last ?? "") ?? 0 }
        // Equal points with the same time are distinguished by less than a microsecond.
        #expect(Set(times).count == 4)
        #expect(times.map { ($0 - date) / 1_000 } == [0, 0, 1_000_000, 1_000_000])
    }

    /// To a server, points with the same tags and the same time are one, and a measurement would be lost.
    @Test func requestsOfTheSameMomentAreSeveralPoints() async throws {
        let sender = FakeSender()
        let test = TestWriter(sender)
        let chain =
            MetricsTap(MetricRecorder(test.writer, timers: test.timers)) --> ScriptedTerminal { _ in .success() }
        for _ in 0..<10 { _ = try await chain.load(HTTPRequest(host: "api.example.com")) }
        #expect(await test.writer.flush().delivered == 10)
        let parts = sender.batches.flatMap(\.self).map { $0.split(separator: " ") }
        let rests = Set(parts.map { $0.dropLast().joined(separator: " ") })
        #expect(parts.count == 10 && rests.count == 1)
        let times = parts.compactMap { words in words.last.flatMap { Int64($0) } }
        let start = Int64(ManualTimers.defaultDate.timeIntervalSince1970) * 1_000_000_000
        #expect(Set(times).count == 10 && times.allSatisfy { (0..<1_000).contains($0 - start) })
    }

    @Test func tagsOfSettingsAreOnEveryPoint() async {
        let sender = FakeSender()
        let test = TestWriter(sender) { $0.tags = ["app": "shop"] }
        test.write(1)
        test.writer.write(test.writer.series("m", tags: ["host": "a"]), timestamp: .seconds(1)) { $0.set("i", 2) }
        await test.writer.flush()
        #expect(sender.batches == [["m,app=shop i=1i 1000000000", "m,app=shop,host=a i=2i 1000000000"]])
    }

    @Test func tagOfPointOverridesThatOfSettings() async {
        let sender = FakeSender()
        let test = TestWriter(sender) { $0.tags = ["app": "shop", "region": "eu"] }
        let held = test.writer.write(contentsOf: [
            Point("m", tags: ["app": "cart"], fields: ["i": 1], timestamp: .seconds(1)),
            Point("m", fields: [:], timestamp: .seconds(2)),
        ])
        // The second has no field, so it cannot be encoded.
        #expect(held == 1)
        test.writer.write(test.writer.series("m", tags: ["app": "api"]), timestamp: .seconds(3)) { $0.set("i", 3) }
        await test.writer.flush()
        #expect(
            sender.batches[0].prefix(2) == [
                "m,app=cart,region=eu i=1i 1000000000", "m,app=api,region=eu i=3i 3000000000",
            ])
    }

    /// It is called outside all locks.
    @Test func eventHandlerMayUseTheWriter() async {
        let (place, log) = (Locked<InfluxWriter?>(nil), EventLog())
        var settings = WriterSettings()
        settings.timers = ManualTimers()
        let writer = InfluxWriter(sender: FakeSender(), settings: settings) { _ in
            guard log.events.isEmpty, let writer = place.withLock({ $0 }) else {
                log.note("heard")
                return
            }
            writer.write(Point("m", fields: ["delivered": .integer(Int64(writer.statistics.delivered))]))
            log.note("written")
        }
        place.withLock { $0 = writer }
        writer.write(Point("m", fields: ["i": 1]))
        #expect(await writer.flush().delivered == 1)
        await log.waitForEvents(1)
        #expect(await writer.flush().delivered == 1)
        await log.waitForEvents(2)
        #expect(log.events == ["written", "heard"] && writer.statistics.delivered == 2)
        place.withLock { $0 = nil }
    }
}
