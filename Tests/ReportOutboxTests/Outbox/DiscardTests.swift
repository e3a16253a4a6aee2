import DurableFilesTesting
import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// A server receives the counts of its lost reports.
@Suite(.timeLimit(.minutes(10))) struct DiscardTests {
    private let crash = ReportKind("crash")

    /// The counts in each request.
    private func said(to server: FakeServer) -> [String?] { server.requests.map { $0.headers["Report-Discarded"] } }

    private func fullOutbox(_ server: FakeServer = FakeServer(), disk: MemoryDirectory = MemoryDirectory()) throws
        -> TestOutbox
    {
        try TestOutbox(server, disk: disk, sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 1
            $0.maximumReportBytes = 100
        }
    }

    private func submit(_ ids: [String], _ kind: ReportKind, to test: TestOutbox) throws {
        for id in ids { try test.outbox.submit(bytes(10), identifier: id, request: upload, kind: kind) }
        test.outbox.drain()
    }

    @Test func discardCountsAreSentOnceWithNextReport() throws {
        let test = try fullOutbox()
        try submit(["a", "b", "c"], crash, to: test)
        try submit(["d"], .standard, to: test)
        #expect(throws: OutboxError.self) { try test.submit("large", 101) }
        test.outbox.startSending()
        test.outbox.drain()
        try submit(["e"], crash, to: test)
        #expect(said(to: test.server) == ["no-room;kind=crash;n=3, too-large;kind=default;n=1", nil])
        #expect(!test.disk.names.contains("discarded"))
    }

    @Test func rejectedSubmissionsAreCountedByTheirReason() throws {
        let test = try TestOutbox(sends: false) { $0.maximumCount = 2 }
        try submit(["a"], crash, to: test)
        test.disk.limit(0)
        let unwritten = #expect(throws: OutboxError.self) { try submit(["b"], crash, to: test) }
        #expect(unwritten?.code == .diskFull)
        test.disk.limit(.max)
        try submit(["c"], crash, to: test)
        let surplus = #expect(throws: OutboxError.self) { try submit(["d"], .standard, to: test) }
        #expect(surplus?.code == .full)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(said(to: test.server) == ["box-full;kind=default;n=1, disk;kind=crash;n=1", nil])
    }

    @Test func discardCountsAreSentAgainAfterFailedAttempt() throws {
        let test = try fullOutbox(FakeServer(first: [.status(.serviceUnavailable), .failure(.connectionLost)]))
        try submit(["a", "b"], crash, to: test)
        test.outbox.startSending()
        for _ in 0..<3 { test.advance(.seconds(4_000)) }
        let text = "no-room;kind=crash;n=1"
        #expect(said(to: test.server) == [text, text, text] && test.outbox.count == 0)
    }

    @Test func discardCountsAreSentByNextLaunch() throws {
        let disk = MemoryDirectory()
        let first = try fullOutbox(disk: disk)
        try submit(["a", "b", "c"], crash, to: first)
        // Whenever the outbox handles its reports, it saves the counts.
        first.outbox.startSending()
        first.outbox.setNetwork(isAvailable: false)
        first.outbox.drain()
        first.outbox.abandon()
        first.outbox.drain()
        disk.kill()
        disk.revive()
        let second = FakeServer()
        let test = try TestOutbox(second, disk: disk)
        try submit(["d"], crash, to: test)
        #expect(
            said(to: first.server).compactMap { $0 } + said(to: second).compactMap { $0 } == ["no-room;kind=crash;n=2"])
        #expect(!disk.names.contains("discarded"))
    }

    @Test func abandonedOutboxSavesDiscardCounts() throws {
        let test = try fullOutbox()
        try submit(["a", "b"], crash, to: test)
        test.outbox.abandon()
        test.outbox.drain()
        #expect(test.disk.names.contains("discarded"))
        test.disk.kill()
        test.disk.revive()
        let next = try TestOutbox(disk: test.disk)
        #expect(said(to: next.server) == ["no-room;kind=crash;n=1"])
        #expect(!next.events.contains { if case .foreignFiles = $0 { true } else { false } })
    }

    @Test func powerLossWithFsyncDoesNotCorruptDiscardCounts() throws {
        let test = try TestOutbox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 1
            $0.durability = .fsync
        }
        try submit(["a", "b"], crash, to: test)
        // An outbox that is used saves the counts, and the next report syncs their name to disk.
        test.outbox.startSending()
        test.outbox.setNetwork(isAvailable: false)
        test.outbox.drain()
        try submit(["c"], crash, to: test)
        test.disk.kill()
        test.outbox.abandon()
        // The old outbox writes its remaining data to a dead disk, and not to that of the next one.
        test.outbox.drain()
        test.disk.revive(afterPowerLoss: true)
        let next = try TestOutbox(disk: test.disk, sends: false)
        #expect(!next.events.contains { if case .trouble = $0 { true } else { false } })
    }

    @Test func abandonedOutboxNoLongerWritesToDirectory() throws {
        let test = try fullOutbox()
        try submit(["a", "b"], crash, to: test)
        test.disk.cut(.fullDisk)
        test.outbox.abandon()
        test.outbox.drain()
        test.disk.cut(nil)
        let names = test.disk.names
        #expect(!names.contains("discarded"))
        // Once more, as when the last reference is released, with another outbox in the directory.
        let next = try TestOutbox(disk: test.disk, sends: false)
        let operations = test.disk.operations
        test.outbox.abandon()
        // Nor does what the app or the network still calls.
        test.outbox.sendNow()
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.disk.names == names && test.disk.operations == operations)
        next.outbox.abandon()
    }

    @Test func damagedDiscardCountsAreReportedAndIgnored() throws {
        for bit in [0, 40, 100, 300] {
            let test = try fullOutbox()
            try submit(["a", "b"], crash, to: test)
            test.outbox.abandon()
            test.outbox.drain()
            test.disk.flipBit(bit, in: "discarded")
            test.disk.kill()
            test.disk.revive()
            let next = try TestOutbox(disk: test.disk)
            #expect(said(to: next.server) == [nil])
            #expect(next.events.contains { if case .trouble = $0 { true } else { false } })
        }
    }

    @Test func discardCountsAreNotSentToAnotherServer() throws {
        let test = try fullOutbox()
        try submit(["a", "b"], crash, to: test)
        let other = HTTPRequest(method: .put, host: "other.example.com", path: "/")
        test.outbox.purge(try #require(ReportID("b")))
        try test.submit("c", to: other)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(said(to: test.server) == [nil])
        try submit(["d"], crash, to: test)
        #expect(said(to: test.server) == [nil, "no-room;kind=crash;n=1"])
    }

    @Test func purgedAndUnconsentedReportsAreNotCountedAsDiscarded() throws {
        let test = try fullOutbox()
        try submit(["a", "b"], crash, to: test)
        test.outbox.setConsent(.denied)
        test.outbox.setConsent(.given)
        try test.submit("c")
        test.outbox.purge(try #require(ReportID("c")))
        try test.submit("d")
        test.outbox.startSending()
        test.outbox.drain()
        #expect(said(to: test.server) == [nil] && !test.disk.names.contains("discarded"))
    }

    @Test func discardedHeaderCanBeOmitted() throws {
        let test = try TestOutbox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 1
            $0.discardedHeader = nil
        }
        try submit(["a", "b"], crash, to: test)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(said(to: test.server) == [nil])
    }

    @Test func discardLedgerIsBoundedAndTakesEachCountOnce() {
        var ledger = DiscardLedger()
        for number in 0..<1_000 { ledger.note("failed-\(number)", crash, for: 7, count: number + 1) }
        #expect(ledger.counts.count == DiscardLedger.mostCounts)
        var told: [String] = []
        var sequence: UInt64 = 0
        while let text = ledger.take(for: 7, by: sequence) {
            #expect(text.utf8.count <= DiscardLedger.longestText)
            told += text.split(separator: ", ").map(String.init)
            sequence += 1
        }
        #expect(told.count == DiscardLedger.mostCounts && Set(told).count == told.count)
        #expect(told.first == "failed-255;kind=crash;n=256")
        #expect(ledger.take(for: 8, by: 1_000) == nil)
        for number in 0..<sequence { ledger.ended(number, wasDelivered: number > 0) }
        // The counts of the first attempt are still to be reported.
        #expect(ledger.take(for: 7, by: 2_000)?.hasPrefix("failed-255;kind=crash;n=256") == true)
        ledger.note("a", crash, for: 1, count: .max)
        ledger.note("a", crash, for: 1, count: .max)
        #expect(ledger.take(for: 1, by: 3_000) == "a;kind=crash;n=\(Int.max)")
    }
}
