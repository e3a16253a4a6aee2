import DurableFilesTesting
import LineProtocol
import LoaderChain
import LoaderChainTesting
import Testing

@testable import InfluxReporting

/// What a writer with a directory holds in memory, and what becomes of it when the disk is full.
@Suite(.timeLimit(.minutes(10))) struct DiskBoundTests {
    private let timers = ManualTimers()
    private let journal = MemoryDirectory()
    private let sender = FakeSender(FakeSender.offline)
    private let bound = 1 << 18

    private func writer(_ change: (inout WriterSettings) -> Void = { _ in }) throws -> InfluxWriter {
        var settings = WriterSettings()
        settings.timers = timers
        settings.random = RandomSource(seed: 1)
        settings.batchPoints = 50
        settings.maximumBytes = bound
        settings.maximumPoints = 1_000_000
        change(&settings)
        return try InfluxWriter(sender: sender, directory: journal, settings: settings, stripes: 1)
    }

    private static func point(_ number: Int) -> Point {
        Point("m", fields: ["i": .integer(Int64(number))], timestamp: .seconds(Int64(number)))
    }

    private func memory(of writer: InfluxWriter) -> Int { writer.engine.shared.withLock { $0.memoryRoom } }

    private func deliver(_ writer: InfluxWriter) async throws {
        sender.answer(FakeSender.delivered)
        // A batch that left before may yet come back, and begin a pause that ends only when the clock moves.
        try await writer.engine.settle()
        while writer.statistics.held > 0 {
            timers.advance(by: .seconds(200))
            await writer.flush(within: .seconds(3_600))
        }
        // What the clock gave the disk to do.
        writer.engine.queue.sync {}
    }

    @Test func blocksThatFillByCountAreLeftToTheirFiles() async throws {
        let writer = try writer()
        for number in 0..<5_000 { #expect(writer.write(Self.point(number)) == .saved) }
        #expect(memory(of: writer) <= bound)
        #expect(writer.statistics.held == 5_000)
        try await deliver(writer)
        #expect(writer.statistics.delivered == 5_000 && writer.statistics.addsUp)
        await writer.shutDown()
        #expect(journal.names == [])
    }

    @Test func aDiskThatTakesNothingHoldsMemoryToItsBoundAndLosesNoHeldPoint() async throws {
        let writer = try writer()
        journal.cut(.fullDisk)
        let results = (0..<5_000).map { writer.write(Self.point($0)) }
        #expect(memory(of: writer) <= bound)
        let held = Set(results.indices.filter { results[$0] == .inMemory })
        #expect(!held.isEmpty && results.allSatisfy { $0 == .inMemory || $0 == .dropped(.disk) })
        #expect(writer.statistics.dropped == [.disk: 5_000 - held.count])
        try await deliver(writer)
        let arrived = Set(sender.batches.flatMap(\.self))
        #expect(arrived.isSuperset(of: held.map { TestWriter.line($0) }))
        // But for the points that report drops, of which some may have been dropped themselves.
        #expect(writer.statistics.dropped.keys.allSatisfy { $0 == .disk } && writer.statistics.addsUp)
        journal.cut(nil)
        await writer.shutDown()
    }

    @Test func whatIsHeldInMemoryIsSavedWhenTheDiskHasRoomAgain() async throws {
        let writer = try writer()
        let saved = (0..<500).map { writer.write(Self.point($0)) }
        #expect(saved.allSatisfy { $0 == .saved })
        journal.cut(.fullDisk)
        let results = (500..<5_000).map { writer.write(Self.point($0)) }
        journal.cut(nil)
        // A block that is being filled is saved after it was handed in.
        for _ in 0..<20 {
            timers.advance(by: .seconds(1))
            try await writer.engine.settle()
            writer.engine.queue.sync {}
        }
        let held = Set(results.indices.filter { results[$0] == .inMemory }.map { $0 + 500 })
        #expect(writer.engine.shared.withLock { $0.unsavedBlocks }.isEmpty)
        #expect(writer.write(Self.point(5_000)) == .saved)
        // The process ends, and the next one finds all of it.
        journal.kill()
        writer.engine.stop()
        // What this process still does would be done to the next one's directory.
        try await writer.engine.settle()
        writer.engine.queue.sync {}
        journal.revive()
        sender.answer(FakeSender.delivered)
        let next = try self.writer()
        try await deliver(next)
        let arrived = Set(sender.batches.flatMap(\.self))
        let expected = Set(0..<500).union(held).union([5_000])
        let missing = expected.filter { !arrived.contains(TestWriter.line($0)) }
        #expect(missing.isEmpty, "\(missing.sorted())")
        await next.shutDown()
    }
}
