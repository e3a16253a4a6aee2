import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// Records and bytes that cannot be read, temporarily or permanently.
@Suite(.timeLimit(.minutes(10)))
struct ReadingTests {
    @Test func unreadableRecordIsRetriedWithBackoffUntilItExpires() throws {
        let test = try TestOutbox(sends: false)
        try test.submit("a")
        test.disk.refuseReading(true)
        test.outbox.startSending()
        test.outbox.drain()
        let firstDay = reads(test, days: 1)
        // About once in half an hour, and no more often, once the delays have grown.
        #expect(10...120 ~= firstDay)
        #expect(test.outbox.reports.map(\.attempts) == [0])
        _ = reads(test, days: 2)
        #expect(test.outbox.count == 0)
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["expired"])
        #expect(test.timers.pendingCount == 0)
        // No server has rejected it, so it is still in the outbox.
        test.disk.refuseReading(false)
        try test.outbox.retry(try #require(ReportID("a")))
        test.outbox.drain()
        #expect(test.outbox.counters.delivered == 1)
    }

    /// The number of times that the record is read in the given number of days.
    private func reads(_ test: TestOutbox, days: Int) -> Int {
        func failures() -> Int { test.events.count { if case .willRetry = $0 { true } else { false } } }
        let (before, end) = (failures(), test.timers.now.advanced(by: .seconds(days * 24 * 3600)))
        var rounds = 0
        while test.timers.now < end, rounds < 10_000, test.timers.advanceToNext() {
            test.outbox.drain()
            rounds += 1
        }
        return failures() - before
    }

    @Test func unreadableBodyCountsNoAttempts() throws {
        let isReadable = Locked(false)
        let server = FakeServer { _, _ in isReadable.withLock { $0 } ? .status(.ok) : .unreadable }
        let test = try TestOutbox(server) {
            $0.maximumAttempts = 3
            $0.maximumDelay = .seconds(60)
        }
        try test.submit("a")
        for _ in 0..<200 where test.timers.advanceToNext() { test.outbox.drain() }
        #expect(test.outbox.reports.map(\.attempts) == [0])
        isReadable.withLock { $0 = true }
        test.outbox.sendNow()
        test.outbox.drain()
        #expect(test.outbox.counters.delivered == 1)
    }

    @Test func unreadableKeptFileIsNotTreatedAsMissing() throws {
        let directory = try TemporaryDirectory()
        let place = directory.url.appending(path: "kept")
        try bytes(20).write(to: place)
        let test = try TestOutbox(sends: false) { $0.locations = OnePlace(url: place) }
        try test.outbox.submit(fileAt: place, identifier: "a", request: upload)
        // A folder in its place cannot be read by any user.
        try FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.outbox.count == 1 && test.outbox.reports.map(\.attempts) == [0])
        try FileManager.default.removeItem(at: place)
        try bytes(20).write(to: place)
        test.outbox.sendNow()
        test.outbox.drain()
        #expect(test.outbox.counters.delivered == 1)
    }

    private struct OnePlace: ReportLocationProvider {
        let url: URL
        func location(of id: ReportID) -> URL? { url }
    }
}
