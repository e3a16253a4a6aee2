import DurableFilesTesting
import Foundation
import LineProtocol
import LoaderChain
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting

/// The memory of a writer with a directory, and its behavior when the disk is full.
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
        return try InfluxWriter(sender: sender, directory: journal, settings: settings)
    }

    private func memory(of writer: InfluxWriter) -> Int {
        writer.engine.state.withLock { $0.batching.queue.total.memory + $0.batching.open.bytes }
    }

    private func deliver(_ writer: InfluxWriter) async throws {
        sender.answer(FakeSender.delivered)
        // An earlier batch may still fail, and begin a pause that ends only when the clock advances.
        try await writer.engine.settle()
        while writer.statistics.held > 0 {
            timers.advance(by: .seconds(200))
            await writer.flush(within: .seconds(3_600))
        }
        // Waits for the disk work that the clock has started.
        writer.engine.queue.sync {}
    }

    /// Ends the process.
    private func kill(_ writer: InfluxWriter, losingPower: Bool = false) async throws {
        journal.kill()
        writer.engine.stop()
        // Otherwise this process could still change the next one's directory.
        try await writer.engine.settle()
        writer.engine.queue.sync {}
        journal.revive(afterPowerLoss: losingPower)
    }

    @Test func memoryStaysWithinLimitWhenBlocksFillByCount() async throws {
        let writer = try writer()
        for number in 0..<10_000 { #expect(writer.write(Point.numbered(number)) == .saved) }
        // The lines being collected do not count: they are in a file too, and are few.
        #expect(writer.engine.state.withLock { $0.batching.queue.total.memory } <= bound)
        #expect(writer.statistics.held == 10_000)
        try await deliver(writer)
        #expect(writer.statistics.delivered == 10_000 && writer.statistics.addsUp)
        await writer.shutDown()
        #expect(journal.names == [])
    }

    @Test func fullDiskLimitsMemoryAndKeepsHeldPoints() async throws {
        let writer = try writer()
        journal.cut(.fullDisk)
        let results = (0..<10_000).map { writer.write(Point.numbered($0)) }
        #expect(memory(of: writer) <= bound)
        let held = Set(results.indices.filter { results[$0] == .inMemory })
        #expect(!held.isEmpty && results.allSatisfy { $0 == .inMemory || $0 == .dropped(.disk) })
        #expect(writer.statistics.dropped == [.disk: 10_000 - held.count])
        try await deliver(writer)
        let arrived = Set(sender.batches.flatMap(\.self))
        #expect(arrived.isSuperset(of: held.map { TestWriter.line($0) }))
        // Except for points about drops, some of which may have been dropped themselves.
        #expect(writer.statistics.dropped.keys.allSatisfy { $0 == .disk } && writer.statistics.addsUp)
        journal.cut(nil)
        await writer.shutDown()
    }

    /// A batch that failed while the disk was full: its unsaved lines are saved later, at the end, or never.
    @Test(arguments: ["later", "at the end", "never"])
    func failedBatchIsSavedWhenDiskHasRoom(_ isSaved: String) async throws {
        sender.answer(FakeSender.failing(.refused(.unauthorized, reason: "token")))
        let writer = try writer {
            $0.batchPoints = 2_000
            $0.maximumBytes = 1 << 22
        }
        #expect((0..<100).allSatisfy { writer.write(Point.numbered($0)) == .saved })
        // The open file has space for some more.
        journal.limit(journal.names.reduce(0) { $0 + (journal.bytes(of: $1)?.count ?? 0) } + 300)
        let results = (100..<1_100).map { writer.write(Point.numbered($0)) }
        #expect(results.contains(.saved) && results.allSatisfy { $0.isHeld })
        let saved = 100 + results.count { $0 == .saved }
        #expect(await writer.flush(within: .seconds(3_600)).pending == 1_100)
        if isSaved != "never" { journal.limit(.max) }
        if isSaved == "later" {
            for _ in 0..<20 {
                timers.advance(by: .seconds(1))
                try await writer.engine.settle()
                writer.engine.queue.sync {}
            }
            #expect(writer.engine.state.withLock { $0.batching.unsavedParcels }.isEmpty)
        }
        let report = await writer.shutDown(within: .seconds(3_600))
        let kept = isSaved == "never" ? saved : 1_100
        #expect(report.pending == kept && report.dropped == (kept < 1_100 ? [.unsent: 1_100 - kept] : [:]))
        #expect(writer.statistics.addsUp && writer.statistics.held == kept)
        journal.limit(.max)
        sender.answer(FakeSender.delivered)
        let before = sender.count
        let next = try self.writer()
        #expect(next.statistics.accepted == kept)
        try await deliver(next)
        let arrived = Set(sender.batches.dropFirst(before).joined())
        #expect(arrived == Set(TestWriter.lines(0..<(isSaved == "never" ? saved : 1_100))))
        await next.shutDown()
        #expect(journal.names == [])
    }

    /// If a batch does not fit on the disk, smaller blocks are still saved, and the footprint of saved parcels is the size of
    /// their files.
    @Test func smallBlockIsSavedWhenBatchDoesNotFit() async throws {
        sender.answer(FakeSender.failing(.refused(.unauthorized, reason: "token")))
        let writer = try writer {
            $0.batchPoints = 2_000
            $0.maximumBytes = 1 << 22
            $0.whenFull = .dropNewest
        }
        journal.cut(.fullDisk)
        for number in 0..<1_000 { #expect(writer.write(Point.numbered(number)) == .inMemory) }
        #expect(await writer.flush(within: .seconds(3_600)).pending == 1_000)
        for number in 1_000..<1_010 { #expect(writer.write(Point.numbered(number)) == .inMemory) }
        journal.cut(nil)
        journal.limit(8_000)
        let report = await writer.shutDown(within: .seconds(3_600))
        #expect(report.pending == 10 && report.dropped == [.unsent: 1_000])
        #expect(writer.statistics.heldBytes == 4_096)
        journal.limit(.max)
        sender.answer(FakeSender.delivered)
        let before = sender.count
        let next = try self.writer()
        try await deliver(next)
        #expect(Set(sender.batches.dropFirst(before).joined()) == Set(TestWriter.lines(1_000..<1_010)))
        await next.shutDown()
    }

    /// Flushed lines survive although their block was moved to another file, because one of its lines could not be written.
    @Test func movedBlockIsFlushedBeforeOldFileIsRemoved() async throws {
        let writer = try writer { $0.synchronization = .seconds(100_000) }
        #expect((0..<3).allSatisfy { writer.write(Point.numbered($0)) == .saved })
        writer.engine.queue.sync { writer.engine.synchronize() }
        journal.cut(.failure(at: 1, code: EIO))
        #expect(writer.write(Point.numbered(3)) == .inMemory)
        journal.cut(nil)
        let file = journal.names
        writer.engine.queue.sync { writer.engine.synchronize() }
        #expect(journal.names.count == 1 && journal.names != file)
        try await kill(writer, losingPower: true)
        sender.answer(FakeSender.delivered)
        let next = try self.writer()
        try await deliver(next)
        // After a loss of power, the first file may exist again.
        #expect(Set(sender.batches.joined()) == Set(TestWriter.lines(0..<4)))
        await next.shutDown()
    }

    /// A file that cannot be flushed does not prevent other files from being flushed, or lines in memory from being saved.
    @Test func unflushableFileDoesNotBlockOthers() async throws {
        let writer = try writer { $0.synchronization = .seconds(100_000) }
        #expect(writer.write(Point.numbered(0)) == .saved)
        writer.engine.seal()
        journal.refuseSync(of: journal.names[0])
        #expect(writer.write(Point.numbered(1)) == .saved)
        writer.engine.seal()
        #expect(writer.write(Point.numbered(2)) == .saved)
        journal.cut(.failure(at: 1, code: EIO))
        #expect(writer.write(Point.numbered(3)) == .inMemory)
        journal.cut(nil)
        writer.engine.seal()
        writer.engine.queue.sync { writer.engine.synchronize() }
        #expect(writer.engine.state.withLock { $0.batching.unsavedParcels }.isEmpty)
        try await kill(writer, losingPower: true)
        sender.answer(FakeSender.delivered)
        let next = try self.writer()
        try await deliver(next)
        #expect(Set(sender.batches.joined()).isSuperset(of: TestWriter.lines(1..<4)))
        await next.shutDown()
    }

    /// During a pause, nothing else seals a block.
    @Test func openBlockIsSavedDuringPause() async throws {
        sender.answer(FakeSender.failing(.refused(.unauthorized, reason: "token")))
        let writer = try writer()
        #expect(writer.write(Point.numbered(0)) == .saved)
        #expect(await writer.flush(within: .seconds(3_600)).pending == 1)
        try await writer.engine.settle()
        journal.cut(.fullDisk)
        let results = (1..<5).map { writer.write(Point.numbered($0)) }
        #expect(results == Array(repeating: .inMemory, count: 4))
        journal.cut(nil)
        for _ in 0..<3 { writer.engine.queue.sync { writer.engine.synchronize() } }
        try await kill(writer)
        sender.answer(FakeSender.delivered)
        let before = sender.count
        let next = try self.writer()
        try await deliver(next)
        #expect(Set(sender.batches.dropFirst(before).joined()) == Set(TestWriter.lines(0..<5)))
        await next.shutDown()
    }

    /// Several threads find that their block has no file, and create it.
    @Test func concurrentFirstWritesLeaveNoFiles() async throws {
        for _ in 0..<20 {
            let journal = MemoryDirectory()
            let writer = try InfluxWriter(sender: FakeSender(), directory: journal, settings: .init())
            // So that they arrive while the first thread creates it.
            journal.slow(1, RandomSource(seed: 1))
            await withCheckedContinuation { continuation in
                let left = Locked(16)
                for number in 0..<16 {
                    Thread.detachNewThread {
                        writer.write(Point.numbered(number))
                        let isLast = left.withLock { left in
                            left -= 1
                            return left == 0
                        }
                        if isLast { continuation.resume() }
                    }
                }
            }
            #expect(await writer.shutDown(within: .seconds(600)).pending == 0)
            #expect(journal.names == [])
        }
    }

    /// A batch in flight at the end, some of whose lines are only in memory.
    @Test(arguments: [false, true]) func batchInFlightIsSavedAtShutdown(diskWorks: Bool) async throws {
        let sender = HeldSender()
        var settings = WriterSettings()
        settings.timers = timers
        settings.batchPoints = 2_000
        settings.random = RandomSource(seed: 1)
        settings.synchronization = .seconds(100)
        let writer = try InfluxWriter(sender: sender, directory: journal, settings: settings)
        for number in 0..<100 { #expect(writer.write(Point.numbered(number)) == .saved) }
        journal.limit(journal.names.reduce(0) { $0 + (journal.bytes(of: $1)?.count ?? 0) } + 300)
        let saved = 100 + (100..<1_000).count { writer.write(Point.numbered($0)) == .saved }
        #expect(saved > 100 && saved < 200)
        let shutDown = Task { await writer.shutDown(within: .seconds(3)) }
        await sender.waitForEvents(1)
        if diskWorks { journal.limit(.max) }
        try await eventually("the end has a limit") {
            timers.nextDeadline == TimerInstant(nanoseconds: 0).advanced(by: .seconds(3))
        }
        timers.advance(by: .seconds(3))
        let report = await shutDown.value
        let kept = diskWorks ? 1_000 : saved
        #expect(report.pending == kept && report.dropped == (diskWorks ? [:] : [.unsent: 1_000 - saved]))
        #expect(report.pendingReason == .deadline)
        #expect(writer.statistics.addsUp && writer.statistics.held == kept)
        journal.limit(.max)
        self.sender.answer(FakeSender.delivered)
        let next = try self.writer()
        #expect(next.statistics.accepted == kept)
        try await deliver(next)
        #expect(Set(self.sender.batches.joined()) == Set(TestWriter.lines(0..<kept)))
        await next.shutDown()
    }

    @Test func diskLimitHoldsDuringSynchronization() async throws {
        let writer = try writer { $0.maximumDiskBytes = bound }
        // The duration of a synchronization.
        writer.engine.queue.suspend()
        for number in 0..<50_000 {
            writer.write(Point.numbered(number))
            guard number.isMultiple(of: 500) else { continue }
            let size = journal.names.reduce(0) { $0 + (journal.bytes(of: $1)?.count ?? 0) }
            #expect(size <= bound)
        }
        writer.engine.queue.resume()
        #expect(writer.statistics.droppedTotal > 10_000 && writer.statistics.addsUp)
        try await deliver(writer)
        await writer.shutDown()
        #expect(journal.names == [])
    }

    @Test func smallBlocksCountWithTheirOverhead() {
        let test = TestWriter(FakeSender(FakeSender.offline)) { $0.maximumBytes = 1 << 20 }
        for number in 0..<10_000 {
            test.write(number)
            test.writer.engine.seal()
        }
        // Each takes some 350 bytes.
        #expect(test.statistics.held < 1 << 20 / 320 && test.statistics.droppedTotal > 5_000)
        #expect(test.statistics.addsUp)
    }

    @Test func pointsInMemoryAreSavedWhenDiskHasRoomAgain() async throws {
        let writer = try writer()
        let saved = (0..<500).map { writer.write(Point.numbered($0)) }
        #expect(saved.allSatisfy { $0 == .saved })
        journal.cut(.fullDisk)
        let results = (500..<5_000).map { writer.write(Point.numbered($0)) }
        journal.cut(nil)
        // The block that is being collected is saved after it is sealed.
        for _ in 0..<20 {
            timers.advance(by: .seconds(1))
            try await writer.engine.settle()
            writer.engine.queue.sync {}
        }
        let held = Set(results.indices.filter { results[$0] == .inMemory }.map { $0 + 500 })
        #expect(writer.engine.state.withLock { $0.batching.unsavedParcels }.isEmpty)
        #expect(writer.write(Point.numbered(5_000)) == .saved)
        // The process ends, and the next one finds all points.
        try await kill(writer)
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
