import LoaderChain
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting
@testable import LineProtocol

/// Writes that wait for space.
@Suite(.timeLimit(.minutes(10))) struct WaitingTests {
    /// A writer that holds as many points as it may.
    private static func fullWriter(_ sender: HeldSender) -> TestWriter {
        let test = TestWriter(sender) {
            $0.maximumPoints = 8
            $0.batchPoints = 100
        }
        for number in 0..<8 { test.write(number) }
        return test
    }

    /// Waits until the given number of writes wait.
    private static func waits(_ writer: InfluxWriter, _ count: Int) async throws {
        try await eventually("\(count) writes wait") { writer.engine.freedSpace.waiting == count }
    }

    @Test(arguments: [WriterSettings.WhenFull.dropOldest, .dropNewest])
    func enqueuedBurstAboveLimitLosesNothing(_ whenFull: WriterSettings.WhenFull) async throws {
        let sender = FakeSender()
        let test = TestWriter(sender) {
            $0.maximumPoints = 80
            $0.batchPoints = 20
            $0.whenFull = whenFull
        }
        for number in 0..<5_000 { #expect(try await test.writer.enqueue(Point.numbered(number)) == .inMemory) }
        await test.writer.flush()
        #expect(sender.batches.flatMap(\.self) == TestWriter.lines(0..<5_000))
        #expect(test.statistics.dropped == [:] && test.statistics.addsUp)
    }

    @Test func pointThatNeverFitsIsDroppedAtOnce() async throws {
        let test = TestWriter(FakeSender()) {
            $0.maximumBytes = 100_000
            $0.batchBytes = 1 << 20
        }
        let point = Point(
            "m",
            fields: [
                "s": .string(String(repeating: "x", count: 60_000)),
                "t": .string(String(repeating: "x", count: 60_000)),
            ])
        #expect(try await test.writer.enqueue(point) == .dropped(.tooLarge))
        #expect(test.writer.write(point) == .dropped(.tooLarge))
        #expect(test.statistics.addsUp)
    }

    @Test func enqueueWaitsUntilBatchIsDelivered() async throws {
        let sender = HeldSender()
        let test = Self.fullWriter(sender)
        let write = Task { try await test.writer.enqueue(Point.numbered(8)) }
        await sender.waitForEvents(1)
        try await Self.waits(test.writer, 1)
        #expect(test.statistics.accepted == 8 && test.statistics.dropped == [:])
        sender.answer()
        #expect(try await write.value == .inMemory)
        #expect(test.statistics.accepted == 9 && test.statistics.held == 1)
    }

    /// The point is encoded again whenever there may be space.
    @Test func repairOfWaitingPointIsCountedOnce() async throws {
        let sender = HeldSender()
        let test = Self.fullWriter(sender)
        let point = Point("m", tags: ["a": ""], fields: ["i": 1], timestamp: .seconds(9))
        let write = Task { try await test.writer.enqueue(point) }
        await sender.waitForEvents(1)
        try await Self.waits(test.writer, 1)
        #expect(test.statistics.repairs[.emptyTagValue] == 0)
        sender.answer()
        #expect(try await write.value == .inMemory)
        #expect(test.statistics.repairs[.emptyTagValue] == 1)
    }

    @Test func cancelledEnqueueAcceptsNothing() async throws {
        let sender = HeldSender()
        let test = Self.fullWriter(sender)
        let write = Task { try await test.writer.enqueue(Point.numbered(8)) }
        try await Self.waits(test.writer, 1)
        write.cancel()
        await #expect(throws: CancellationError.self) { try await write.value }
        #expect(test.statistics.accepted == 8 && test.statistics.addsUp)
        sender.answer()
        try await test.settle()
    }

    @Test func stoppedWriterEndsWaitingEnqueue() async throws {
        let sender = HeldSender()
        let test = Self.fullWriter(sender)
        let write = Task { try await test.writer.enqueue(Point.numbered(8)) }
        try await Self.waits(test.writer, 1)
        test.writer.engine.stop()
        #expect(try await write.value == .dropped(.shutDown))
        sender.answer()
        try await test.settle()
    }
}
