import DurableFilesTesting
import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Records and bytes that cannot be read, for a while or for ever.
@Suite(.timeLimit(.minutes(10)))
struct ReadingTests {
    @Test func aRecordThatCannotBeReadIsTriedLessAndLessAndNotForEver() throws {
        let test = try TestBox(sends: false)
        try test.submit("a")
        test.disk.refuseReading(true)
        test.box.startSending()
        test.box.drain()
        let firstDay = reads(test, days: 1)
        // About one in half an hour, and no more, once the delays have grown.
        #expect(10...120 ~= firstDay)
        #expect(test.box.reports.map(\.attempts) == [0])
        _ = reads(test, days: 2)
        #expect(test.box.count == 0)
        #expect(test.box.reportsSetAside.map(\.setAsideBecause) == ["expired"])
        #expect(test.timers.pendingCount == 0)
        // No server has refused it, so it is still there.
        test.disk.refuseReading(false)
        try test.box.retry(try #require(ReportID("a")))
        test.box.drain()
        #expect(test.box.counters.delivered == 1)
    }

    /// How often the record is read in so many days.
    private func reads(_ test: TestBox, days: Int) -> Int {
        let end = test.timers.now.advanced(by: .seconds(days * 24 * 3600))
        var rounds = 0
        while test.timers.now < end, rounds < 10_000, test.timers.advanceToNext() {
            test.box.drain()
            rounds += 1
        }
        return rounds
    }

    @Test func bytesThatATerminalCannotReadCostNoAttempts() throws {
        let isReadable = Locked(false)
        let server = FakeServer { _, _ in isReadable.withLock { $0 } ? .status(.ok) : .unreadable }
        let test = try TestBox(server) {
            $0.maximumAttempts = 3
            $0.maximumDelay = .seconds(60)
        }
        try test.submit("a")
        for _ in 0..<200 where test.timers.advanceToNext() { test.box.drain() }
        #expect(test.box.reports.map(\.attempts) == [0])
        isReadable.withLock { $0 = true }
        test.box.tryNow()
        test.box.drain()
        #expect(test.box.counters.delivered == 1)
    }

    @Test func aKeptFileThatCannotBeReadIsNotMissing() throws {
        let directory = try TemporaryDirectory()
        let place = directory.url.appending(path: "kept")
        try bytes(20).write(to: place)
        let test = try TestBox(sends: false) { $0.locations = OnePlace(url: place) }
        try test.box.submit(fileAt: place, identifier: "a", request: upload)
        // A folder in its place cannot be read by any user.
        try FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        test.box.startSending()
        test.box.drain()
        #expect(test.box.count == 1 && test.box.reports.map(\.attempts) == [0])
        try FileManager.default.removeItem(at: place)
        try bytes(20).write(to: place)
        test.box.tryNow()
        test.box.drain()
        #expect(test.box.counters.delivered == 1)
    }

    private struct OnePlace: ReportLocationProvider {
        let url: URL
        func location(of id: ReportID) -> URL? { url }
    }
}
