import DurableFilesTesting
import LineProtocol
import LoaderChain
import LoaderChainTesting
import TestSizes

@testable import InfluxReporting

/// A writer over several launches, on a directory that can fail at any operation, with the expected state.
final class JournalLife: @unchecked Sendable {
    let journal = MemoryDirectory()
    let timers = ManualTimers()
    private(set) var writer: InfluxWriter?
    private let book = Locked(Book())
    private var lastPoint = 0

    private struct Book {
        var isServerUp = true
        /// The points that `write` reported as saved.
        var promised: Set<Int> = []
        /// The points that were saved at the last synchronization.
        var synchronized: Set<Int> = []
        var delivered: Set<Int> = []
        /// The number of lines that the server has accepted in this launch, including the writer's own points.
        var taken = 0
        var faults: [String] = []
    }

    @discardableResult
    func open(_ change: (inout WriterSettings) -> Void = { _ in }) -> Bool {
        var settings = WriterSettings()
        settings.timers = timers
        settings.random = RandomSource(seed: UInt64(lastPoint) + 1)
        settings.batchPoints = 8
        settings.firstDelay = .milliseconds(10)
        settings.maximumDelay = .milliseconds(20)
        change(&settings)
        book.withLock { $0.taken = 0 }
        let sender = FakeSender { [self] in answer($0) }
        writer = try? InfluxWriter(
            sender: sender, dialect: .influxDB1, directory: journal, settings: settings)
        return writer != nil
    }

    private func answer(_ batch: LineBatch) -> BatchOutcome {
        book.withLock { book in
            // A dead process sends nothing.
            guard book.isServerUp, !journal.isDead else { return FakeSender.offline(batch) }
            book.taken += batch.count
            for line in 0..<batch.count {
                let text = batch.text(of: line)
                // A point of the writer itself.
                if text.hasPrefix("InfluxWriter,") { continue }
                let number = text.split(separator: " ").last.flatMap { Int($0) } ?? -1
                if text != Self.line(number) { book.faults.append("a line arrived as “\(text)”") }
                book.delivered.insert(number)
            }
            return FakeSender.delivered(batch)
        }
    }

    private static let text = "one\ntwo"
    static func line(_ number: Int) -> String { "m i=\(number)i,s=\"\(text)\" \(number)" }

    @discardableResult
    func write() -> Bool {
        guard let writer else { return false }
        lastPoint += 1
        let point = Point(
            "m", fields: ["i": .integer(Int64(lastPoint)), "s": .string(Self.text)],
            timestamp: Timestamp(nanoseconds: Int64(lastPoint)))
        guard writer.write(point) == .saved, !journal.isDead else { return false }
        book.withLock { _ = $0.promised.insert(lastPoint) }
        return true
    }

    func serverIsUp(_ isUp: Bool) { book.withLock { $0.isServerUp = isUp } }

    /// Makes the writer synchronize, as its timer would.
    func synchronize() {
        guard let writer else { return }
        let promised = book.withLock { $0.promised }
        // Twice, because lines that are being written during the first time are flushed the second time. On the writer's queue,
        // because two threads at once would each leave files to the other.
        writer.engine.queue.sync {
            for _ in 0..<2 { writer.engine.synchronize() }
        }
        if !journal.isDead, !writer.engine.state.withLock({ $0.isDiskFailing }) {
            book.withLock { $0.synchronized = promised }
        }
    }

    /// Waits until no batch is in flight, so that a run is reproducible.
    func settle() async throws {
        guard let writer else { return }
        // Blocks that the disk's queue has sealed may be sent.
        for _ in 0..<2 {
            writer.engine.queue.sync {}
            try await writer.engine.settle()
        }
    }

    /// Waits until the counts of the writer agree with those of the server.
    ///
    /// A thread that has counted one batch may be about to send the next.
    private func check(_ writer: InfluxWriter) async throws {
        try await eventually("the writer's counts agree with the server's") {
            let statistics = writer.statistics
            return statistics.addsUp && statistics.delivered == book.withLock { $0.taken }
        }
    }

    /// Flushes, and ends the flush if there is a failure, because the clock does not advance.
    func flushAndSettle() async throws {
        guard let writer else { return }
        let isOver = Locked(false)
        let flush = Task {
            _ = await writer.flush(within: .seconds(3_600))
            isOver.withLock { $0 = true }
        }
        try await eventually("the flush is over") {
            try await settle()
            if writer.statistics.lastFailure != nil { flush.cancel() }
            return isOver.withLock { $0 }
        }
        try await settle()
        try await check(writer)
    }

    /// Ends the process, and starts the next one on the remaining files.
    func end(afterPowerLoss random: RandomSource? = nil) async throws {
        journal.kill()
        writer?.engine.stop()
        try await settle()
        if let writer { try await check(writer) }
        try await release()
        journal.revive(afterPowerLoss: random != nil, writtenPages: random)
        if random != nil { book.withLock { $0.promised = $0.synchronized } }
    }

    /// Releases the writer, and waits until no thread uses it; otherwise it could still change the next writer's directory.
    private func release() async throws {
        weak var engine: WriterEngine?
        engine = writer?.engine
        writer = nil
        try await eventually("the writer is gone") { engine == nil }
    }

    /// Opens the directory once more, with a working disk and server, and returns the faults.
    func faults() async throws -> [String] {
        serverIsUp(true)
        journal.cut(nil)
        guard open() else { return ["it does not open"] }
        // Points about drops are written while others are delivered, and are sent by the next flush.
        var statistics = WriterStatistics()
        for _ in 0..<20 {
            try await flushAndSettle()
            statistics = writer?.statistics ?? WriterStatistics()
            if statistics.addsUp && statistics.held == 0 { break }
        }
        var faults = book.withLock { $0.faults }
        if !statistics.addsUp || statistics.held > 0 { faults.append("\(statistics)") }
        await writer?.shutDown()
        try await release()
        let lost = book.withLock { $0.promised.subtracting($0.delivered) }
        if !lost.isEmpty { faults.append("\(lost.sorted()) were saved and are lost") }
        // If the first line of a block is truncated, the file has no readable line.
        let left = journal.names.filter { DamagedFile.block(of: $0) == nil }
        if !left.isEmpty { faults.append("\(left) are left") }
        return faults
    }
}
