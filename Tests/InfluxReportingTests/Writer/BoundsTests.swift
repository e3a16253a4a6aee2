import LineProtocol
import LoaderChain
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting

/// Drops, their reasons, and their reports.
@Suite(.timeLimit(.minutes(10))) struct BoundsTests {
    @Test func fullBufferDropsOldestPoints() async {
        let sender = FakeSender()
        let test = TestWriter(sender) {
            $0.maximumPoints = 8
            $0.batchPoints = 100
        }
        for number in 0..<20 { #expect(test.write(number) == .inMemory) }
        #expect(test.statistics.dropped == [.bufferFull: 12])
        #expect(test.statistics.held == 8 && test.statistics.addsUp)
        await test.writer.flush()
        // The point that reports the drops does not count towards the limit.
        #expect(sender.batches[0].prefix(8) == TestWriter.lines(12..<20)[...])
        #expect(sender.batches[0].count == 9)
    }

    @Test(.timeLimit(.minutes(10))) func dropsAreAnnouncedOncePerSecond() async {
        let test = TestWriter(FakeSender(FakeSender.offline)) {
            $0.maximumPoints = 80
            $0.batchPoints = 1_000
        }
        for second in 1...3 {
            for number in 0..<10_000 { test.write(number) }
            test.timers.advance(by: .seconds(1))
            let announced = test.events.compactMap { event -> Int? in
                if case .dropped(let count, .bufferFull) = event { count } else { nil }
            }
            // The first dropped block is announced at once, and all others after a second.
            #expect(announced.count == second + 1)
            #expect(announced.reduce(0, +) == test.statistics.dropped[.bufferFull])
        }
    }

    @Test func dropNewestKeepsOldestPoints() async {
        let sender = FakeSender()
        let test = TestWriter(sender) {
            $0.maximumPoints = 8
            $0.whenFull = .dropNewest
            $0.batchPoints = 100
        }
        let isHeld = (0..<20).map { test.write($0).isHeld }
        #expect(isHeld == (0..<20).map { $0 < 8 })
        #expect(test.statistics.dropped == [.bufferFull: 12])
        #expect(test.statistics.addsUp)
        // The first drop is announced at once, the others at the next opportunity.
        #expect(test.events == [.dropped(1, .bufferFull)])
        let report = await test.writer.flush()
        #expect(report.delivered == 8)
        #expect(test.events.contains(.dropped(11, .bufferFull)))
        #expect(sender.batches[0].prefix(8) == TestWriter.lines(0..<8)[...])
    }

    @Test func dropsAreReportedAsPoints() async {
        let sender = FakeSender()
        let test = TestWriter(sender) {
            $0.maximumPoints = 8
            $0.whenFull = .dropNewest
            $0.batchPoints = 100
        }
        for number in 0..<20 { test.write(number) }
        await test.writer.flush()
        await test.writer.flush()
        let reports = sender.batches.flatMap(\.self).filter { $0.hasPrefix("InfluxWriter,") }
        #expect(reports.count == 1)
        #expect(reports.first?.hasPrefix("InfluxWriter,reason=buffer-full dropped=12i ") == true)
        #expect(test.statistics.addsUp && test.statistics.delivered == 9)
        // Without other points, the report is written as a separate point.
        test.writer.write(Point("m", fields: [:]))
        #expect(await test.writer.flush().delivered == 1)
        #expect(sender.batches.last?.first?.hasPrefix("InfluxWriter,reason=not-encodable dropped=1i ") == true)
    }

    @Test(arguments: [WriterSettings.WhenFull.dropOldest, .dropNewest])
    func everyDropOfOutageIsReportedToServer(_ whenFull: WriterSettings.WhenFull) async throws {
        let sender = FakeSender(FakeSender.offline)
        let test = TestWriter(sender) {
            $0.maximumPoints = 200
            $0.batchPoints = 50
            $0.whenFull = whenFull
        }
        for number in 0..<5_000 {
            test.write(number)
            if number.isMultiple(of: 100) {
                // The thread of a response may set the timer.
                try await test.settle()
                test.timers.advance(by: .seconds(10))
            }
        }
        try await test.settle()
        let outage = sender.count
        let dropped = test.statistics.droppedTotal
        #expect(dropped > 4_000)
        sender.answer(FakeSender.delivered)
        while test.statistics.held > 0 {
            test.timers.advance(by: .seconds(200))
            await test.writer.flush(within: .seconds(3_600))
            try await test.settle()
        }
        let reported = sender.batches.suffix(sender.count - outage).joined().compactMap { line in
            line.firstMatch(of: #/^InfluxWriter,reason=buffer-full dropped=([0-9]+)i /#).flatMap { Int($0.1) }
        }
        #expect(reported.reduce(0, +) == dropped)
        #expect(test.statistics.addsUp)
    }

    /// A report whose response is lost may have been stored, so it must be the same point when it is sent again.
    @Test func repeatedDropReportIsSamePoint() async throws {
        let sender = FakeSender(FakeSender.offline)
        let test = TestWriter(sender) {
            $0.maximumPoints = 8
            $0.whenFull = .dropNewest
            $0.batchPoints = 100
        }
        for number in 0..<20 { test.write(number) }
        for _ in 0..<5 {
            try await test.settle()
            test.timers.advance(by: .seconds(200))
            // Points dropped meanwhile are in another report.
            test.write(20)
        }
        try await test.settle()
        sender.answer(FakeSender.delivered)
        while test.statistics.held > 0 {
            test.timers.advance(by: .seconds(200))
            await test.writer.flush(within: .seconds(3_600))
        }
        test.write(30)
        await test.writer.flush()
        let reports = sender.batches.flatMap(\.self).filter { $0.hasPrefix("InfluxWriter,") }
        #expect(reports.count > 5 && Set(reports).count == 2, "\(reports)")
        let dropped = Set(reports).compactMap { $0.firstMatch(of: #/dropped=([0-9]+)i/#).flatMap { Int($0.1) } }
        #expect(dropped.reduce(0, +) == test.statistics.droppedTotal && test.statistics.addsUp)
    }

    /// A server that rejects all lines, and reports only their number.
    @Test func unnamedRejectedDropReportIsNotInFlushReport() async throws {
        let sender = FakeSender { batch in
            var outcome = BatchOutcome()
            outcome.unnamedRejections = [UnnamedRejection(count: batch.count, reason: "too many series")]
            return outcome
        }
        let test = TestWriter(sender) {
            $0.maximumPoints = 1
            $0.whenFull = .dropNewest
        }
        test.write(1)
        test.write(2)
        let report = await test.writer.flush()
        #expect(sender.batches.first?.count == 2)
        #expect(report.delivered == 0 && report.rejected == 1)
        #expect(test.statistics.delivered == 0 && test.statistics.rejected == 2 && test.statistics.addsUp)
    }

    @Test func delayRequestedForDropReportIsFollowed() async throws {
        let sender = FakeSender { batch in
            var outcome = BatchOutcome()
            outcome.deliveredCount = batch.count - 1
            outcome.undelivered = LineSet((batch.count - 1)..<batch.count)
            outcome.failure = .busy(after: .seconds(60), reason: "too many writes")
            return outcome
        }
        let test = TestWriter(sender) {
            $0.maximumPoints = 1
            $0.whenFull = .dropNewest
        }
        test.write(1)
        test.write(2)
        #expect(await test.writer.flush().delivered == 1)
        sender.answer(FakeSender.delivered)
        test.write(3)
        test.timers.advance(by: .seconds(59))
        try await test.settle()
        #expect(sender.count == 1)
        test.timers.advance(by: .seconds(60))
        try await test.settle()
        #expect(sender.batches.count == 2 && sender.batches[1].count == 2)
    }

    @Test func tooLargeFirstPointIsDropped() async {
        let test = TestWriter(FakeSender()) { $0.batchBytes = 8_192 }
        let text = String(repeating: "x", count: 10_000)
        #expect(test.writer.write(Point("m", fields: ["text": .string(text)])) == .dropped(.tooLarge))
        #expect(test.statistics.dropped == [.tooLarge: 1] && test.statistics.held == 0)
    }

    @Test func tooLargePointDropsNoOtherPoint() async {
        let sender = FakeSender()
        let test = TestWriter(sender) { $0.batchBytes = 8_192 }
        let text = String(repeating: "x", count: 10_000)
        test.write(1)
        #expect(test.writer.write(Point("m", fields: ["text": .string(text)])) == .dropped(.tooLarge))
        test.write(2)
        await test.writer.flush()
        #expect(test.statistics.dropped == [.tooLarge: 1])
        #expect(sender.batches[0].prefix(2) == [TestWriter.line(1), TestWriter.line(2)])
    }

    @Test func lineLongerThanBlockArrives() async {
        let sender = FakeSender()
        let test = TestWriter(sender) { $0.batchBytes = 200_000 }
        let text = String(repeating: "x", count: 50_000)
        for number in 0..<3 {
            test.write(number)
            test.writer.write(
                Point("m", fields: ["a": .string(text), "b": .string(text)], timestamp: .seconds(1)))
        }
        await test.writer.flush()
        await test.writer.flush()
        let lines = sender.batches.flatMap(\.self)
        #expect(lines.filter { $0.count > 100_000 }.count == 3)
        #expect(lines.filter { $0.count < 100 } == TestWriter.lines(0..<3))
        #expect(test.statistics.addsUp && test.statistics.droppedTotal == 0)
    }

    @Test func unencodablePointIsDroppedAndCounted() async {
        let test = TestWriter(FakeSender())
        #expect(test.writer.write(Point("m", fields: [:])) == .dropped(.notEncodable))
        #expect(test.writer.write(Point("m", tags: ["a": ""], fields: ["i": 1])).isHeld)
        #expect(test.statistics.dropped == [.notEncodable: 1])
        #expect(test.statistics.repairs[.emptyTagValue] == 1)
        #expect(test.statistics.addsUp)
    }

    @Test func encoderThatGrewForDroppedNameIsNotKept() {
        let test = TestWriter(FakeSender())
        let name = String(repeating: "x", count: 1 << 20)
        #expect(test.writer.write(Point(name, fields: ["i": 1])) == .dropped(.notEncodable))
        let encoder = test.writer.engine.state.withLock { $0.encoders.lend().scratch.encoder }
        #expect(encoder.capacity <= 64 << 10)
    }

    /// The encoder of the previous point is reused for the next point.
    @Test func repairsAreCountedWhileAnotherPointIsWritten() {
        let test = TestWriter(FakeSender())
        test.writer.write(Point("m", tags: ["a": ""], fields: ["i": 1]))
        test.writer.write("m", tags: { _ in }) { fields in
            #expect(test.statistics.repairs[.emptyTagValue] == 1)
            fields.set("i", 2)
        }
        #expect(test.statistics.repairs[.emptyTagValue] == 1)
    }

    /// Even if the server asked for a long delay.
    @Test func flushEndsWhenItsPointsAreDropped() async throws {
        let sender = FakeSender(FakeSender.failing(.busy(after: .seconds(3_600), reason: "too many writes")))
        let test = TestWriter(sender) { $0.maximumPoints = 1 }
        test.write(1)
        let flush = Task { await test.writer.flush(within: .seconds(7_200)) }
        try await eventually("the server has answered") { sender.count == 1 && test.statistics.lastFailure != nil }
        try await test.settle()
        test.write(2)
        #expect(await flush.value.dropped == [.bufferFull: 1])
    }

    @Test func writeAfterShutdownIsDropped() async {
        let sender = FakeSender()
        let test = TestWriter(sender)
        test.write(1)
        let report = await test.writer.shutDown()
        #expect(report.delivered == 1 && report.isComplete)
        #expect(test.write(2) == .dropped(.shutDown))
        #expect(test.statistics.dropped == [.shutDown: 1])
        #expect(await test.writer.shutDown() == FlushReport())
        #expect(test.statistics.addsUp && test.timers.pendingCount == 0)
    }

    @Test func unsentPointsAreDroppedAtShutdown() async throws {
        let sender = HeldSender()
        let test = TestWriter(sender) { $0.batchPoints = 2 }
        test.write(1)
        test.write(2)
        await sender.waitForEvents(1)
        test.write(3)
        async let report = test.writer.shutDown(within: .seconds(3))
        try await test.timers.wait(until: .seconds(3))
        test.timers.advance(by: .seconds(3))
        // Batches in flight are cancelled, and their points are lost too.
        let result = await report
        #expect(result.dropped == [.unsent: 3] && result.pending == 0 && result.pendingReason == nil)
        #expect(test.events.contains(.dropped(3, .unsent)) || test.events.contains(.dropped(2, .unsent)))
        #expect(test.statistics.dropped == [.unsent: 3])
        #expect(test.statistics.addsUp && test.timers.pendingCount == 0)
    }

    /// The memory in which lines are collected is reused while they are in flight.
    @Test func refusedPointsAreDroppedAtShutdown() async {
        let test = TestWriter(FakeSender(FakeSender.failing(.refused(.unauthorized, reason: "token")))) {
            $0.batchPoints = 1_000
        }
        for number in 0..<1_000 { test.write(number) }
        await test.writer.flush()
        for number in 1_000..<1_500 { test.write(number) }
        let report = await test.writer.shutDown(within: .seconds(600))
        #expect(report.dropped == [.unsent: 1_500] && report.pending == 0 && report.pendingReason == nil)
        #expect(test.statistics.dropped == [.unsent: 1_500] && test.statistics.addsUp)
    }

    @Test func waitingFlushEndsAtShutdown() async throws {
        let test = TestWriter(FakeSender(FakeSender.offline))
        test.write(1)
        let flush = Task { await test.writer.flush(within: .seconds(3_600)) }
        try await test.settle()
        try await eventually("the flush has begun") { test.statistics.failures > 0 }
        let end = Task { await test.writer.shutDown(within: .seconds(1)) }
        try await eventually("the end has a limit") { test.timers.pendingCount >= 3 }
        test.timers.advance(by: .seconds(1))
        #expect(await end.value.dropped == [.unsent: 1])
        let report = await flush.value
        #expect(report.dropped == [.unsent: 1] && !report.isComplete && report.pending == 0)
        #expect(await test.writer.flush().delivered == 0)
        #expect(test.timers.pendingCount == 0)
    }

    @Test func releasedWriterFreesEngineAndTimers() async {
        let timers = ManualTimers()
        weak var engine: WriterEngine?
        do {
            var settings = WriterSettings()
            settings.timers = timers
            let writer = InfluxWriter(sender: FakeSender(), settings: settings)
            writer.write(Point("m", fields: ["i": 1]))
            engine = writer.engine
            #expect(timers.pendingCount == 1)
        }
        #expect(engine == nil)
        #expect(timers.pendingCount == 0)
    }
}
