import Dispatch
import DurableFilesTesting
import Foundation
import LineProtocol
import LoaderChain
import LoaderChainTesting
import TestSizes
import Testing

@testable import InfluxReporting

/// A disk that holds an operation for as long as a test wants.
@Suite(.timeLimit(.minutes(10))) struct HangingDiskTests {
    private let timers = ManualTimers()
    private let journal = MemoryDirectory()
    private let log = EventLog()
    private let gate = DispatchSemaphore(value: 0)
    private let bound = 1 << 16

    private func writer(_ sender: FakeSender = FakeSender()) throws -> InfluxWriter {
        var settings = WriterSettings()
        settings.timers = timers
        settings.random = RandomSource(seed: 1)
        settings.batchPoints = 50
        settings.maximumBytes = bound
        settings.synchronization = .seconds(100)
        return try InfluxWriter(sender: sender, directory: journal, settings: settings)
    }

    /// Holds the next operation of a kind until the gate opens.
    private func hold(_ action: String) {
        journal.hold(action) { [log, gate] in
            log.note("hangs")
            gate.wait()
            log.note("goes on")
        }
    }

    /// Writes a point on another thread, and returns when that hangs.
    private func writeHanging(_ number: Int, to writer: InfluxWriter) async {
        hold("written")
        Thread.detachNewThread { [log] in
            let result = writer.write(Point.numbered(number))
            log.note("\(result)")
        }
        await log.waitForEvents(1)
    }

    /// The line's batch and those after it wait; flushes end nevertheless, and later lines leave memory as always.
    @Test func hangingWriteHoldsUpNeitherFlushNorMemory() async throws {
        let writer = try writer()
        await writeHanging(0, to: writer)
        let later = (1...5_000).map { writer.write(Point.numbered($0)) }
        #expect(later.allSatisfy { $0 == .saved })
        #expect(writer.engine.state.withLock { $0.batching.queue.total.memory } <= bound)
        let flush = Task { await writer.flush(within: .seconds(3)) }
        try await timers.wait(until: .seconds(3))
        timers.advance(by: .seconds(3))
        let report = await flush.value
        #expect(report.pending == 5_001 && report.pendingReason == .deadline)
        #expect(log.events == ["hangs"])
        gate.signal()
        await log.waitForEvents(3)
        await writer.flush(within: .seconds(3_600))
        #expect(log.events.last == "saved" && writer.statistics.delivered == 5_001)
        await writer.shutDown()
        #expect(journal.names == [])
    }

    /// The point is in the recorder's queue meanwhile.
    @Test func hangingWriteHoldsUpNoRequest() async throws {
        let writer = try writer()
        hold("written")
        let tap = MetricsTap(writer)
        _ = try await (tap --> ScriptedTerminal { _ in .success() }).load(HTTPRequest(host: "api.example.com"))
        await log.waitForEvents(1)
        #expect(log.events == ["hangs"])
        gate.signal()
        await tap.recorder.flush()
        #expect(writer.statistics.held == 1)
        #expect(await writer.shutDown().delivered == 1)
    }

    /// The line is in memory alone, and the writer that would send or save it has ended.
    @Test func lineThatFailsAfterShutdownIsDropped() async throws {
        let writer = try writer()
        #expect(writer.write(Point.numbered(0)) == .saved)
        await writeHanging(1, to: writer)
        let shutDown = Task { await writer.shutDown(within: .seconds(3)) }
        try await timers.wait(until: .seconds(3))
        timers.advance(by: .seconds(3))
        // The second line may still get into the file.
        let report = await shutDown.value
        #expect(report.pending == 2 && report.dropped == [:])
        #expect(log.events == ["hangs"])
        journal.cut(.fullDisk)
        gate.signal()
        await log.waitForEvents(3)
        #expect(log.events.last == "\(WriteResult.dropped(.unsent))")
        let statistics = writer.statistics
        #expect(statistics.held == 1 && statistics.dropped == [.unsent: 1] && statistics.addsUp)
    }

    @Test func shutdownReturnsWhileDiskHangs() async throws {
        let writer = try writer(FakeSender(FakeSender.failing(.refused(.unauthorized, reason: "token"))))
        #expect(writer.write(Point.numbered(0)) == .saved)
        hold("synchronized")
        let shutDown = Task { await writer.shutDown(within: .seconds(3)) }
        await log.waitForEvents(1)
        timers.advance(by: WriterEngine.leastTimeToEnd)
        #expect(await shutDown.value.pending == 1)
        #expect(log.events == ["hangs"])
        // The directory stays locked as long as the disk may still change it.
        #expect(throws: WriterError.self) { _ = try self.writer() }
        gate.signal()
        try await eventually("the writer has ended") { writer.engine.state.withLock(\.isStopped) }
        #expect(writer.statistics.held == 1 && writer.statistics.addsUp)
    }
}
