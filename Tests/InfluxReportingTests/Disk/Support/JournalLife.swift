import DurableFilesTesting
import LineProtocol
import LoaderChain
import LoaderChainTesting

@testable import InfluxReporting

/// A writer over all its lives, on a directory that can be cut at any moment, beside what must be true of it.
final class JournalLife: @unchecked Sendable {
    let journal = MemoryDirectory()
    let timers = ManualTimers()
    private(set) var writer: InfluxWriter?
    private let book = Locked(Book())
    private var lastPoint = 0

    private struct Book {
        var isServerUp = true
        /// What a caller was told to be safe.
        var promised: Set<Int> = []
        /// What was safe when the disk was last synchronized.
        var synchronized: Set<Int> = []
        var delivered: Set<Int> = []
        /// How many lines the server has taken of this launch, also of those that the writer says of itself.
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
            // A process that is dead sends nothing.
            guard book.isServerUp, !journal.isDead else { return FakeSender.offline(batch) }
            book.taken += batch.count
            for line in 0..<batch.count {
                let text = batch.text(of: line)
                // What the writer says of itself.
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

    /// Lets the writer synchronize, as its timer would.
    func synchronize() {
        guard let writer else { return }
        let promised = book.withLock { $0.promised }
        // Twice, since what was on its way the first time is there the second time; on the queue, where the writer does
        // it, since two threads at once would each leave files to the other.
        writer.engine.queue.sync {
            for _ in 0..<2 { writer.engine.synchronize() }
        }
        if !journal.isDead, !writer.engine.state.withLock({ $0.isDiskFailing }) {
            book.withLock { $0.synchronized = promised }
        }
    }

    /// Waits until nothing is on its way, so that a life always takes the same course.
    func settle() async throws {
        guard let writer else { return }
        // What the disk's queue seals may be sent.
        for _ in 0..<2 {
            writer.engine.queue.sync {}
            try await writer.engine.settle()
        }
    }

    /// Waits until every point is in one place, for the writer and for the server, as it must be whatever happened.
    ///
    /// A thread that has counted one batch may be about to send the next.
    private func check(_ writer: InfluxWriter) async throws {
        try await eventually("what the writer counts is what the server has taken") {
            let statistics = writer.statistics
            return statistics.addsUp && statistics.delivered == book.withLock { $0.taken }
        }
    }

    /// Flushes, and gives up where something is in the way, since time stands still.
    func flushAndSettle() async throws {
        guard let writer else { return }
        let isOver = Locked(false)
        let flush = Task {
            _ = await writer.flush(within: .seconds(3_600))
            isOver.withLock { $0 = true }
        }
        try await eventually("the flush is over") {
            try await settle()
            if writer.statistics.obstacle != nil { flush.cancel() }
            return isOver.withLock { $0 }
        }
        try await settle()
        try await check(writer)
    }

    /// Ends the process, and lets the next one find what is left.
    func end(afterPowerLoss random: RandomSource? = nil) async throws {
        journal.kill()
        writer?.engine.stop()
        try await settle()
        if let writer { try await check(writer) }
        try await release()
        journal.revive(afterPowerLoss: random != nil, writtenPages: random)
        if random != nil { book.withLock { $0.promised = $0.synchronized } }
    }

    /// Lets go of the writer, and waits until no thread uses it: what it still does would be done to the next one's
    /// directory.
    private func release() async throws {
        weak var engine: WriterEngine?
        engine = writer?.engine
        writer = nil
        try await eventually("the writer is gone") { engine == nil }
    }

    /// Opens it once more with a disk and a server that work, and says what is wrong.
    func faults() async throws -> [String] {
        serverIsUp(true)
        journal.cut(nil)
        guard open() else { return ["it does not open"] }
        // Points about drops come while others are delivered, and leave with the next flush.
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
        if !lost.isEmpty { faults.append("\(lost.sorted()) were promised and are lost") }
        // A line that was cut short at the beginning of its block leaves a file in which nothing can be read.
        let left = journal.names.filter { DamagedFile.block(of: $0) == nil }
        if !left.isEmpty { faults.append("\(left) are left") }
        return faults
    }
}
