import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting

/// Concurrent writes.
@Suite(.timeLimit(.minutes(10))) struct WriterRaceTests {
    private static let threads = 16
    /// The time limit of the tests, so that the speed of the machine has no influence.
    private static let patience = Duration.seconds(600)
    private static let points =
        testSize("INFLUX_RACE_POINTS", usually: 2_000)

    /// Every thread writes its own points, in order.
    private static func write(to writer: InfluxWriter, meanwhile: @escaping @Sendable () async -> Void = {}) async {
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask {
                    let series = writer.series("m", tags: ["thread": "\(thread)"])
                    for number in 0..<points {
                        writer.write(series, timestamp: Timestamp(nanoseconds: Int64(number))) { $0.set("i", number) }
                    }
                }
            }
            group.addTask { await meanwhile() }
        }
    }

    @Test func concurrentWritesAndFlushesLoseNothing() async {
        let sender = FakeSender()
        var settings = WriterSettings()
        settings.batchPoints = 1_000
        settings.maximumInFlight = 2
        settings.maximumPoints = 10_000_000
        settings.maximumBytes = 1 << 30
        let writer = InfluxWriter(sender: sender, settings: settings)
        let flushed = Locked(0)
        await Self.write(to: writer) {
            for _ in 0..<50 {
                let report = await writer.flush(within: Self.patience)
                flushed.withLock { $0 += report.delivered }
                await Task.yield()
            }
        }
        let last = await writer.flush(within: Self.patience)
        let total = Self.threads * Self.points
        #expect(writer.statistics.accepted == total && writer.statistics.delivered == total)
        #expect(writer.statistics.addsUp && last.pending == 0)
        let lines = sender.batches.flatMap(\.self)
        #expect(lines.count == total)
        #expect(Set(lines).count == total)
        #expect(sender.batches.allSatisfy { $0.count <= 1_000 })
    }

    @Test func limitsAndCountsHoldDuringRandomFailures() async throws {
        let random = RandomSource(seed: 3)
        let sender = FakeSender { batch in
            var outcome = BatchOutcome()
            let kept = Int(random.next() % 2) * Int(random.next() % UInt64(batch.count + 1))
            outcome.undelivered = LineSet((batch.count - kept)..<batch.count)
            if kept > 0 { outcome.failure = .offline(reason: "mood") }
            let rest = batch.count - kept
            outcome.unnamedRejections = rest > 5 ? [UnnamedRejection(count: 2, reason: "mood")] : []
            outcome.deliveredCount = rest - outcome.rejectedCount
            return outcome
        }
        var settings = WriterSettings()
        settings.batchPoints = 500
        settings.maximumInFlight = 3
        settings.maximumPoints = 3_000
        settings.firstDelay = .milliseconds(1)
        settings.maximumDelay = .milliseconds(2)
        let writer = InfluxWriter(sender: sender, settings: settings)
        let isBroken = Locked(false)
        await Self.write(to: writer) {
            for _ in 0..<200 {
                let statistics = writer.statistics
                if statistics.held > 3_000 || !statistics.addsUp { isBroken.withLock { $0 = true } }
                await Task.yield()
            }
        }
        sender.answer(FakeSender.delivered)
        await writer.flush(within: Self.patience)
        await writer.flush(within: Self.patience)
        let end = await writer.shutDown(within: Self.patience)
        #expect(end.pending == 0)
        #expect(!isBroken.withLock { $0 })
        // The thread of an earlier response may be about to count a point about drops that was written too late.
        var statistics = writer.statistics
        try await eventually("every point is in one count") {
            statistics = writer.statistics
            return statistics.addsUp && statistics.held == 0
        }
        #expect(statistics.accepted >= Self.threads * Self.points)
    }

    @Test func concurrentWritesAndShutdownLoseNothing() async {
        for _ in 0..<20 {
            let sender = FakeSender()
            var settings = WriterSettings()
            settings.batchPoints = 100
            let writer = InfluxWriter(sender: sender, settings: settings)
            let held = Locked(0)
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        var count = 0
                        for number in 0..<500 {
                            let point = Point(
                                "m", tags: ["thread": "\(thread)"], fields: ["i": 1],
                                timestamp: Timestamp(nanoseconds: Int64(number)))
                            if writer.write(point).isHeld { count += 1 }
                        }
                        let written = count
                        held.withLock { $0 += written }
                    }
                }
                group.addTask {
                    await Task.yield()
                    await writer.shutDown(within: Self.patience)
                }
            }
            // A point that was reported as held is delivered.
            #expect(writer.statistics.delivered == held.withLock { $0 })
            #expect(writer.statistics.addsUp && writer.statistics.held == 0)
        }
    }
}
