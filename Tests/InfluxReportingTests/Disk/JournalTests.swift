import DurableFiles
import DurableFilesTesting
import LineProtocol
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting

/// A writer with a directory.
@Suite(.timeLimit(.minutes(10))) struct JournalTests {
    private static func settings(_ change: (inout WriterSettings) -> Void = { _ in }) -> WriterSettings {
        var settings = WriterSettings()
        settings.timers = ManualTimers()
        settings.random = RandomSource(seed: 1)
        change(&settings)
        return settings
    }

    @Test func nextWriterSendsPointsLeftOnDisk() async throws {
        let directory = try TemporaryDirectory()
        let nested = directory.url.appending(path: "a/b")
        let sender = FakeSender(FakeSender.failing(.refused(.unauthorized, reason: "token")))
        do {
            let writer = try InfluxWriter(
                sender: sender, directory: SystemDirectory(nested),
                settings: Self.settings { $0.precision = .milliseconds }
            )
            for number in 0..<10 { #expect(writer.write(Point.numbered(number)) == .saved) }
            let report = await writer.shutDown(within: .seconds(600))
            #expect(report.pending == 10 && report.dropped == [:])
        }
        sender.answer(FakeSender.delivered)
        let events = Locked<[WriterEvent]>([])
        // The second writer has another precision; earlier points keep theirs.
        let writer = try InfluxWriter(sender: sender, directory: SystemDirectory(nested), settings: Self.settings()) {
            event in
            events.withLock { $0.append(event) }
        }
        #expect(writer.write(Point.numbered(10)) == .saved)
        // The found points may already be in flight, and are not waited for twice.
        await writer.flush()
        #expect(writer.statistics.delivered == 11)
        #expect(events.withLock { $0 }.first.map { if case .found = $0 { true } else { false } } == true)
        let lines = Set(sender.batches.suffix(2).flatMap(\.self))
        #expect(lines == Set((0..<10).map { "m i=\($0)i \($0 * 1_000)" } + ["m i=10i 10000000000"]))
        #expect(writer.statistics.addsUp && writer.statistics.accepted == 11)
        await writer.shutDown()
        #expect(try FileManager.default.contentsOfDirectory(atPath: nested.path(percentEncoded: false)) == ["lock"])
    }

    @Test func movedDirectoryKeepsAcceptingPoints() async throws {
        let directory = try TemporaryDirectory()
        let (before, after) = (directory.url.appending(path: "before"), directory.url.appending(path: "after"))
        // Each block has one point, so that each point needs a separate file.
        let settings = Self.settings { $0.batchPoints = 1 }
        let sender = FakeSender(FakeSender.failing(.refused(.unauthorized, reason: "token")))
        let writer = try InfluxWriter(sender: sender, directory: SystemDirectory(before), settings: settings)
        #expect(writer.write(Point.numbered(1)) == .saved)
        try FileManager.default.moveItem(at: before, to: after)
        for number in 2...5 { #expect(writer.write(Point.numbered(number)) == .saved) }
        await writer.shutDown(within: .seconds(600))
        #expect(directory.names == ["after"])
        let next = try InfluxWriter(sender: FakeSender(), directory: SystemDirectory(after), settings: settings)
        await next.flush()
        #expect(next.statistics.delivered == 5)
        await next.shutDown()
    }

    @Test func directoryIsUsedByOneWriterAtATime() async throws {
        let directory = try TemporaryDirectory()
        let writer = try InfluxWriter(
            sender: FakeSender(), directory: SystemDirectory(directory.url), settings: Self.settings())
        let error = #expect(throws: WriterError.self) {
            _ = try InfluxWriter(
                sender: FakeSender(), directory: SystemDirectory(directory.url), settings: Self.settings())
        }
        #expect(error?.code == .inUse)
        await writer.shutDown()
        _ = try InfluxWriter(sender: FakeSender(), directory: SystemDirectory(directory.url), settings: Self.settings())
    }

    @Test func fileAsDirectoryIsRejected() throws {
        let directory = try TemporaryDirectory()
        try directory.put(Data("x".utf8), at: "file")
        let url = try #require(URL(string: "http://127.0.0.1"))
        let error = #expect(throws: WriterError.self) {
            _ = try InfluxWriter(
                destination: .influxDB1(url, database: "d"), chain: HTTPLoader(),
                directory: directory.url.appending(path: "file"))
        }
        #expect(error?.code == .directory)
    }

    /// Writes three points, simulates the end of the process, and damages the first point in the file.
    private static func leaveDamage(
        in journal: MemoryDirectory, by sender: FakeSender
    ) throws -> (name: String, bytes: Data) {
        do {
            let writer = try InfluxWriter(sender: sender, directory: journal, settings: settings())
            for number in 0..<3 { writer.write(Point.numbered(number)) }
            journal.kill()
            writer.engine.stop()
        }
        journal.revive()
        let name = try #require(journal.names.first)
        var bytes = try #require(journal.bytes(of: name))
        bytes[10] ^= 1
        journal.put(bytes, at: name)
        return (name, bytes)
    }

    @Test func foreignFilesStayAndDamagedFilesAreReadInPart() async throws {
        let journal = MemoryDirectory()
        let sender = FakeSender(FakeSender.offline)
        let (name, bytes) = try Self.leaveDamage(in: journal, by: sender)
        journal.put(Array("mine".utf8), at: "notes.txt")
        let garbage = BlockFile(number: 9, precision: .seconds, salt: 9).name
        journal.put(Array(repeating: 0xAA, count: 5_000), at: garbage)
        sender.answer(FakeSender.delivered)
        let events = Locked<[WriterEvent]>([])
        let writer = try InfluxWriter(sender: sender, directory: journal, settings: Self.settings()) { event in
            events.withLock { $0.append(event) }
        }
        await writer.flush()
        #expect(sender.batches.last == ["m i=1i 1000000000", "m i=2i 2000000000"])
        let emitted = events.withLock { $0 }
        #expect(emitted.contains(.found(files: 1)))
        #expect(emitted.contains { if case .damaged(name, _) = $0 { true } else { false } })
        #expect(emitted.contains(.foreignFiles(count: 1, names: ["notes.txt"])))
        await writer.shutDown()
        #expect(Set(journal.names) == ["notes.txt", name + ".damaged", garbage + ".damaged"])
        #expect(journal.bytes(of: name + ".damaged") == bytes)
    }

    @Test func unreadableFileIsReportedAndKept() async throws {
        let journal = MemoryDirectory()
        let sender = FakeSender(FakeSender.offline)
        do {
            let writer = try InfluxWriter(sender: sender, directory: journal, settings: Self.settings())
            for number in 0..<30 { writer.write(Point.numbered(number)) }
            journal.kill()
            writer.engine.stop()
        }
        journal.revive()
        let name = try #require(journal.names.first)
        var bytes = try #require(journal.bytes(of: name))
        // Damages one byte of every line.
        for place in bytes.indices where bytes[place] == UInt8(ascii: "m") { bytes[place] ^= 1 }
        journal.put(bytes, at: name)
        let foreign = BlockFile(number: 70, precision: .seconds, salt: 7).name
        journal.put(Array("not a block\n".utf8), at: foreign)
        let blank = BlockFile(number: 71, precision: .seconds, salt: 7).name
        journal.put(Array(repeating: 0, count: 4_096), at: blank)
        journal.put([], at: BlockFile(number: 72, precision: .seconds, salt: 7).name)
        let events = Locked<[WriterEvent]>([])
        let writer = try InfluxWriter(sender: sender, directory: journal, settings: Self.settings()) { event in
            events.withLock { $0.append(event) }
        }
        let emitted = events.withLock { $0 }
        #expect(emitted == [.damaged(file: name, bytes: bytes.count), .damaged(file: foreign, bytes: 12)])
        await writer.shutDown()
        #expect(Set(journal.names) == [name + ".damaged", foreign + ".damaged"])
        #expect(journal.bytes(of: name + ".damaged") == bytes)
    }

    @Test func flippedBitInLastLineIsReported() async throws {
        let journal = MemoryDirectory()
        let sender = FakeSender(FakeSender.offline)
        do {
            let writer = try InfluxWriter(sender: sender, directory: journal, settings: Self.settings())
            for number in 0..<3 { writer.write(Point.numbered(number)) }
            journal.kill()
            writer.engine.stop()
        }
        journal.revive()
        let name = try #require(journal.names.first)
        let whole = try #require(journal.bytes(of: name))
        let frame = LineFrame.length(of: TestWriter.line(2).utf8.count + 1)
        for bit in 0..<(frame * 8) {
            var bytes = whole
            bytes[whole.count - frame + bit / 8] ^= 1 << UInt8(bit % 8)
            let copy = MemoryDirectory()
            copy.put(bytes, at: name)
            let events = Locked<[WriterEvent]>([])
            let writer = try InfluxWriter(sender: FakeSender(), directory: copy, settings: Self.settings()) { event in
                events.withLock { $0.append(event) }
            }
            let isRequested = events.withLock { $0 }.contains(.damaged(file: name, bytes: frame))
            #expect(isRequested, "bit \(bit)")
            await writer.shutDown()
            #expect(writer.statistics.delivered == 2)
        }
    }

    @Test func fileDamagedWhileHeldIsReportedAndKept() async throws {
        let journal = MemoryDirectory()
        let sender = FakeSender()
        let events = Locked<[WriterEvent]>([])
        let settings = Self.settings {
            // Every block is only in its file.
            $0.maximumBytes = 0
            $0.batchPoints = 1_000
        }
        let writer = try InfluxWriter(sender: sender, directory: journal, settings: settings) { event in
            events.withLock { $0.append(event) }
        }
        for number in 0..<30 { writer.write(Point.numbered(number)) }
        writer.engine.seal()
        let name = try #require(journal.names.first { $0 != "lock" })
        var bytes = try #require(journal.bytes(of: name))
        bytes[10] ^= 1
        journal.put(bytes, at: name)
        await writer.flush()
        #expect(writer.statistics.dropped == [.damaged: 1] && writer.statistics.delivered >= 29)
        let isRequested = events.withLock { $0 }.contains {
            if case .damaged(name, let count) = $0 { count > 0 } else { false }
        }
        #expect(isRequested)
        await writer.shutDown()
        #expect(journal.names == [name + ".damaged"])
        #expect(journal.bytes(of: name + ".damaged") == bytes)
    }

    /// No point counts as saved in a deleted file: no waiting, retried or new point.
    @Test(arguments: [false, true])
    func synchronizationReportsDeletedDirectory(isTried: Bool) async throws {
        let directory = try TemporaryDirectory()
        let place = directory.url.appending(path: "points")
        let events = Locked<[WriterEvent]>([])
        let writer = try InfluxWriter(
            sender: FakeSender(FakeSender.failing(.refused(.unauthorized, reason: "token"))),
            directory: SystemDirectory(place), settings: Self.settings { $0.maximumBytes = 100_000 }
        ) { event in events.withLock { $0.append(event) } }
        #expect(writer.write(Point.numbered(1)) == .saved)
        if isTried { #expect(await writer.flush(within: .seconds(3_600)).pending == 1) }
        #expect(writer.write(Point.numbered(0)) == .saved)
        try FileManager.default.removeItem(at: place)
        writer.engine.queue.sync { writer.engine.synchronize() }
        #expect(writer.write(Point.numbered(2)) == .inMemory)
        let isRequested = events.withLock { $0 }.contains {
            if case .trouble(let text) = $0 { text.contains("its directory was deleted") } else { false }
        }
        #expect(isRequested)
        // More than the memory limit: no block can be removed from memory.
        for number in 3..<5_000 { writer.write(Point.numbered(number)) }
        let lost = writer.statistics.dropped
        #expect(lost.keys.allSatisfy { $0 == .disk } && lost != [:])
        let report = await writer.shutDown(within: .seconds(3_600))
        #expect(report.pending == 0 && report.dropped == [.unsent: writer.statistics.accepted - (lost[.disk] ?? 0)])
        #expect(writer.statistics.addsUp && writer.statistics.held == 0)
    }

    /// Even if the writer does not notice it before the end.
    @Test func pointsInDeletedDirectoryAreDroppedAtShutdown() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.url.appending(path: "points")
        let writer = try InfluxWriter(
            sender: FakeSender(FakeSender.failing(.refused(.unauthorized, reason: "token"))),
            directory: SystemDirectory(place), settings: Self.settings())
        #expect(writer.write(Point.numbered(1)) == .saved)
        writer.engine.queue.sync { writer.engine.synchronize() }
        try FileManager.default.removeItem(at: place)
        let report = await writer.shutDown(within: .seconds(3_600))
        #expect(report.pending == 0 && report.dropped == [.unsent: 1])
    }

    @Test func damagedFilesAreKeptUpToLimit() async throws {
        let journal = MemoryDirectory()
        let files = (1...40).map { BlockFile(number: $0, precision: .seconds, salt: 7).name }
        for name in files { journal.put(Array("x\n".utf8), at: name) }
        let events = Locked<[WriterEvent]>([])
        let writer = try InfluxWriter(sender: FakeSender(), directory: journal, settings: Self.settings()) { event in
            events.withLock { $0.append(event) }
        }
        #expect(journal.names == files.suffix(DamagedFile.mostKept).map { $0 + ".damaged" })
        let troubles = events.withLock { $0 }.filter { if case .trouble = $0 { true } else { false } }
        #expect(troubles.count == 8)
        await writer.shutDown()
    }

    /// A damaged file is renamed when its intact lines are settled, long after the start; the user may have removed some of the
    /// others.
    @Test(arguments: [false, true]) func oldestDamagedFileIsRemovedAtLimit(hasOneGone: Bool) async throws {
        let journal = MemoryDirectory()
        let sender = FakeSender(FakeSender.offline)
        let name = try Self.leaveDamage(in: journal, by: sender).name
        let files = (1...DamagedFile.mostKept).map {
            DamagedFile.name(of: BlockFile(number: UInt64($0), precision: .seconds, salt: 7))
        }
        for file in files { journal.put(Array("x\n".utf8), at: file) }
        sender.answer(FakeSender.delivered)
        let events = Locked<[WriterEvent]>([])
        let writer = try InfluxWriter(sender: sender, directory: journal, settings: Self.settings()) { event in
            events.withLock { $0.append(event) }
        }
        if hasOneGone { try journal.remove(files[5]) }
        await writer.flush()
        let kept = Set((hasOneGone ? files.filter { $0 != files[5] } : Array(files.dropFirst())) + [name + ".damaged"])
        #expect(Set(journal.names.filter { $0.hasSuffix(".damaged") }) == kept)
        let isRequested = events.withLock { $0 }.contains {
            if case .trouble(let text) = $0 { text.contains(files[0]) } else { false }
        }
        #expect(isRequested != hasOneGone)
        await writer.shutDown()
    }

    @Test func fullDiskIsReportedAndPointsStayInMemory() async throws {
        let journal = MemoryDirectory()
        let sender = FakeSender(FakeSender.offline)
        let events = Locked<[WriterEvent]>([])
        let timers = ManualTimers()
        let writer = try InfluxWriter(
            sender: sender, directory: journal,
            settings: Self.settings {
                $0.timers = timers
                $0.batchPoints = 8
                $0.maximumBytes = 100_000
                $0.maximumPoints = 1_000
            }
        ) { event in events.withLock { $0.append(event) } }
        journal.cut(.failures(from: 1, code: ENOSPC))
        #expect((0..<40).map { writer.write(Point.numbered($0)) } == Array(repeating: .inMemory, count: 40))
        #expect(writer.statistics.unsaved == 40)
        let troubles = events.withLock { $0 }.filter { if case .trouble = $0 { true } else { false } }
        #expect(troubles.count == 1)
        journal.cut(nil)
        // First, a block without a file is filled.
        let later = (40..<60).map { writer.write(Point.numbered($0)) }
        #expect(later.suffix(10).allSatisfy { $0 == .saved })
        sender.answer(FakeSender.delivered)
        try await eventually("nothing is held") {
            timers.advance(by: .seconds(200))
            return writer.statistics.held == 0
        }
        // Advancing the clock also made the writer save lines in memory, possibly to a file whose lines have been sent meanwhile.
        writer.engine.queue.sync {}
        #expect(Set(sender.batches.flatMap(\.self)).isSuperset(of: Set(TestWriter.lines(0..<60))))
        #expect(writer.statistics.addsUp)
        await writer.shutDown()
        #expect(journal.names == [])
    }

    @Test func concurrentWritesLoseNoPointsAndLeaveNoFiles() async throws {
        let directory = try TemporaryDirectory()
        let sender = FakeSender()
        var settings = WriterSettings()
        settings.batchPoints = 200
        settings.maximumInFlight = 2
        settings.maximumBytes = 1 << 16
        settings.synchronization = .milliseconds(1)
        let writer = try InfluxWriter(sender: sender, directory: SystemDirectory(directory.url), settings: settings)
        let held = await withTaskGroup(of: Int.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    (0..<500).reduce(0) { count, number in
                        count + (writer.write(Point.numbered(thread * 1_000 + number)) == .saved ? 1 : 0)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(held == 4_000)
        let report = await writer.shutDown(within: .seconds(600))
        #expect(report.pending == 0 && writer.statistics.delivered == 4_000 && writer.statistics.addsUp)
        let lines = sender.batches.flatMap(\.self)
        #expect(lines.count == 4_000 && Set(lines).count == 4_000)
        #expect(directory.names == ["lock"])
    }
}
