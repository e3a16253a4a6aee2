import LineProtocol
import LoaderChain
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting

/// Points that are not delivered.
@Suite(.timeLimit(.minutes(10))) struct KeepingTests {
    @Test func failedBatchIsSentAgainUnchangedAndFirst() async {
        let sender = FakeSender(FakeSender.offline)
        let test = TestWriter(sender)
        test.write(1)
        test.timers.advance(by: .seconds(5))
        await test.timers.waitForPending(count: 1)
        test.write(2)
        sender.answer(FakeSender.delivered)
        test.timers.advance(by: .seconds(1))
        await sender.waitForEvents(2)
        await test.timers.waitForPending(count: 1)
        test.timers.advance(by: .seconds(5))
        await test.waitForEvents(3)
        #expect(sender.batches == [[TestWriter.line(1)], [TestWriter.line(1)], [TestWriter.line(2)]])
        guard case .deliveryFailed(.offline, pending: 1, let pause) = test.events[0] else {
            return #expect(Bool(false), "\(test.events)")
        }
        #expect(pause >= .milliseconds(500) && pause <= .seconds(1))
        #expect(test.statistics.addsUp && test.statistics.failures == 1)
    }

    @Test func requestedDelayIsKeptDespiteFlush() async throws {
        let sender = FakeSender(FakeSender.failing(.busy(after: .seconds(90), reason: "too many")))
        let test = TestWriter(sender)
        test.write(1)
        test.timers.advance(by: .seconds(5))
        await test.timers.waitForPending(count: 1)
        // A random part keeps clients from retrying at the same moment.
        let due = try #require(test.timers.nextDeadline)
        #expect((95...106.25).contains(TimerInstant(nanoseconds: 0).duration(to: due) / .seconds(1)))
        // Even a flush does not send earlier.
        async let report = test.writer.flush(within: .seconds(200))
        await test.timers.waitForPending(count: 2)
        try await test.settle()
        #expect(sender.count == 1)
        sender.answer(FakeSender.delivered)
        test.timers.advance(by: .seconds(102))
        #expect(await report.delivered == 1)
    }

    /// A server cannot silence a writer for good: an hour by default, or what the settings say.
    @Test(arguments: [3_600, 60]) func requestedDelayIsBounded(_ seconds: Int) async throws {
        let sender = FakeSender(FakeSender.failing(.busy(after: .seconds(365 * 86_400), reason: "too many")))
        let test = TestWriter(sender) { if seconds != 3_600 { $0.maximumRetryAfter = .seconds(seconds) } }
        test.write(1)
        test.timers.advance(by: .seconds(5))
        await test.waitForEvents(1)
        // The pause that the clock will end has begun.
        try await test.settle()
        sender.answer(FakeSender.delivered)
        test.timers.advance(by: .seconds(seconds - 1))
        #expect(test.writer.engine.isAtRest && sender.count == 1)
        test.timers.advance(by: .seconds(1))
        await test.waitForEvents(2)
        #expect(test.events.last == .delivered(1) && test.statistics.addsUp)
    }

    /// The clock of the timers stands still while the machine sleeps, and the date goes on.
    @Test func requestedDelayGoesOnWhileMachineSleeps() async throws {
        let sender = FakeSender(FakeSender.failing(.busy(after: .seconds(3_600), reason: "too many")))
        let test = TestWriter(sender)
        test.write(1)
        test.timers.advance(by: .seconds(5))
        await test.waitForEvents(1)
        try await test.settle()
        sender.answer(FakeSender.delivered)
        test.timers.stepDate(by: .seconds(2_700))
        test.timers.advance(by: .seconds(300))
        #expect(test.writer.engine.isAtRest && sender.count == 1)
        test.timers.stepDate(by: .seconds(300))
        test.timers.advance(by: .seconds(300))
        let isPaused = test.writer.engine.state.withLock { $0.batching.pacing.pausedUntil != nil }
        try #require(!isPaused)
        await test.waitForEvents(2)
        #expect(test.statistics.delivered == 1 && sender.count == 2)
    }

    /// An app that comes back asks for a flush, before the next timer fires.
    @Test func flushSendsAfterRequestedDelayHasPassedDuringSleep() async throws {
        let sender = FakeSender(FakeSender.failing(.busy(after: .seconds(3_600), reason: "too many")))
        let test = TestWriter(sender)
        test.write(1)
        test.timers.advance(by: .seconds(5))
        await test.waitForEvents(1)
        try await test.settle()
        sender.answer(FakeSender.delivered)
        test.timers.stepDate(by: .seconds(7_200))
        async let report = test.writer.flush(within: .seconds(1))
        try await eventually("the points are sent") { sender.count == 2 }
        #expect(await report.delivered == 1)
    }

    /// The other batch was sent before the server asked for the delay.
    @Test(arguments: [true, false])
    func otherBatchDoesNotEndRequestedDelay(isDelivered: Bool) async throws {
        let sender = HeldSender()
        let test = TestWriter(sender) {
            $0.maximumInFlight = 2
            $0.batchPoints = 1
        }
        for number in 0..<2 { test.write(number) }
        await sender.waitForEvents(2)
        sender.answer(FakeSender.failing(.busy(after: .seconds(60), reason: "too many")))
        await test.waitForEvents(1)
        sender.answer(isDelivered ? FakeSender.delivered : FakeSender.offline)
        await test.waitForEvents(2)
        let late = TimerInstant(nanoseconds: 0).advanced(by: .seconds(59))
        let isPaused = test.writer.engine.state.withLock { $0.batching.pacing.isPaused(at: late) }
        #expect(isPaused)
        // For what is sent again, whenever that is.
        for _ in 0..<2 { sender.answer() }
        try await test.settle()
        test.timers.advance(by: .seconds(59))
        #expect(test.statistics.batches == 2)
        // A random part is at most an eighth.
        test.timers.advance(by: .seconds(9))
        await test.waitForEvents(isDelivered ? 3 : 4)
        #expect(test.statistics.delivered == 2 && test.statistics.addsUp)
    }

    @Test func restOfBatchIsSentAgain() async throws {
        let sender = FakeSender { batch in
            var outcome = BatchOutcome()
            outcome.deliveredCount = 2
            outcome.rejected = [RejectedLine(line: batch.text(of: 2), reason: "no")]
            outcome.undelivered = LineSet([3, 4])
            outcome.failure = .unsettled(reason: "enough for now")
            return outcome
        }
        let test = TestWriter(sender)
        for number in 0..<5 { test.write(number) }
        async let report = test.writer.flush()
        await sender.waitForEvents(1)
        // The pause that the clock will end has begun.
        try await test.settle()
        sender.answer(FakeSender.delivered)
        test.timers.advance(by: .seconds(1))
        let result = await report
        #expect(sender.batches == [TestWriter.lines(0..<5), TestWriter.lines(3..<5)])
        #expect(result.delivered == 4 && result.rejected == 1 && result.pending == 0)
        #expect(result.rejections == [RejectedLine(line: TestWriter.line(2), reason: "no")])
        #expect(test.events.contains(.rejected(result.rejections, count: 1)))
        #expect(test.statistics.addsUp && test.statistics.rejected == 1)
    }

    /// A server that refuses every line by name.
    private static func refusingAll() -> FakeSender {
        FakeSender { batch in
            var outcome = BatchOutcome()
            outcome.rejected = (0..<batch.count).map { RejectedLine(line: batch.text(of: $0), reason: "no") }
            return outcome
        }
    }

    /// A stream keeps many events, even if nobody reads them.
    @Test(arguments: [(1, 100), (5_000, 3)])
    func rejectionEventHasFirstLines(length: Int, announced: Int) async {
        let sender = Self.refusingAll()
        let test = TestWriter(sender) { $0.batchBytes = 4 << 20 }
        let text = String(repeating: "x", count: length)
        for number in 0..<120 {
            test.writer.write(Point("m", fields: ["text": .string(text)], timestamp: .seconds(Int64(number))))
        }
        await test.writer.flush()
        let first = sender.batches[0].prefix(announced).map { RejectedLine(line: $0, reason: "no") }
        let isAnnounced = test.events == [.rejected(first, count: 120)]
        #expect(isAnnounced)
    }

    @Test func flushReportHasFirstHundredRejectedLines() async {
        let test = TestWriter(Self.refusingAll())
        for number in 0..<250 { test.write(number) }
        let report = await test.writer.flush()
        #expect(report.rejected == 250 && report.rejections.map(\.line) == TestWriter.lines(0..<100))
    }

    @Test func singleLongLineOfRejectionEventIsCut() async throws {
        let test = TestWriter(Self.refusingAll())
        test.writer.write(Point("m", fields: ["text": .string(String(repeating: "x", count: 20_000))]))
        let report = await test.writer.flush()
        #expect(report.rejections.first?.line.utf8.count ?? 0 > 20_000)
        guard case .rejected(let lines, count: 1)? = test.events.first, let line = lines.first?.line else {
            Issue.record("\(test.events)")
            return
        }
        #expect(line.hasPrefix("m ") && line.hasSuffix("…") && line.utf8.count < 16 << 10)
    }

    @Test func flushReportsRefusalAtOnce() async {
        let refusal = DeliveryFailure.refused(.unauthorized, reason: "bad token")
        let sender = FakeSender(FakeSender.failing(refusal))
        let test = TestWriter(sender)
        test.write(1)
        let report = await test.writer.flush()
        #expect(report.pending == 1 && report.pendingReason == .failure(refusal))
        #expect(!report.isComplete)
        #expect(test.statistics.lastFailure == refusal && test.statistics.held == 1)
        // The token was fixed, and the next flush does not wait.
        sender.answer(FakeSender.delivered)
        #expect(await test.writer.flush().delivered == 1)
        #expect(test.statistics.lastFailure == nil)
    }

    @Test func flushEndsAtDeadlineAndKeepsPoints() async {
        let sender = FakeSender(FakeSender.offline)
        let test = TestWriter(sender)
        test.write(1)
        async let report = test.writer.flush(within: .milliseconds(100))
        await test.timers.waitForPending(count: 2)
        test.timers.advance(by: .milliseconds(100))
        let result = await report
        #expect(result.pending == 1)
        #expect(result.pendingReason == .failure(.offline(reason: "no network")))
        #expect(test.statistics.held == 1)
    }

    @Test func cancelledFlushEnds() async {
        let sender = HeldSender()
        let test = TestWriter(sender)
        test.write(1)
        let flush = Task { await test.writer.flush() }
        await sender.waitForEvents(1)
        flush.cancel()
        let report = await flush.value
        #expect(report.pending == 1 && report.pendingReason == .cancelled)
        sender.answer()
        await test.waitForEvents(1)
        #expect(test.statistics.delivered == 1)
        #expect(test.timers.pendingCount == 0)
    }

    @Test func longOutageCostsFewRequestsAndBoundedMemory() async throws {
        let sender = FakeSender(FakeSender.offline)
        let test = TestWriter(sender) {
            $0.batchPoints = 100
            $0.maximumPoints = 1_000
            $0.maximumBytes = 200_000
        }
        for second in 0..<3_600 {
            test.write(second)
            test.timers.advance(by: .seconds(1))
            try await test.settle()
            #expect(test.statistics.held <= 1_000 && test.statistics.heldBytes <= 200_000)
        }
        #expect(sender.count <= 75 && sender.count > 20, "\(sender.count) requests")
        #expect(test.statistics.addsUp)
        #expect(test.statistics.held > 750)

        sender.answer(FakeSender.delivered)
        let held = test.statistics.held
        let report = await test.writer.flush()
        #expect(report.delivered >= held)
        let lines = sender.batches.flatMap(\.self)
        // The newest points are there, and a point reports the drops.
        #expect(lines.contains(TestWriter.line(3_599)))
        #expect(lines.contains { $0.hasPrefix("InfluxWriter,reason=buffer-full dropped=") })
        #expect(test.statistics.addsUp && test.statistics.held == 0)
    }

    @Test func firstStreamHasEarlierEventsAndAllEndWithTheWriter() async {
        let test = TestWriter(FakeSender())
        test.write(1)
        await test.writer.flush()
        await test.waitForEvents(1)
        let (whole, later) = (test.writer.events, test.writer.events)
        test.write(2)
        await test.writer.flush()
        await test.waitForEvents(2)
        await test.writer.shutDown()
        var heard: [[WriterEvent]] = [[], []]
        for await event in whole { heard[0].append(event) }
        for await event in later { heard[1].append(event) }
        #expect(heard == [[.delivered(1), .delivered(1)], [.delivered(1)]])
    }
}
