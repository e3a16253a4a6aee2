import DurableFilesTesting
import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// A server is told which reports never arrived.
@Suite(.timeLimit(.minutes(10))) struct DiscardTests {
    private let crash = ReportKind("crash")

    /// What each request says.
    private func said(to server: FakeServer) -> [String?] { server.requests.map { $0.headers["Report-Discarded"] } }

    private func fullBox(_ server: FakeServer = FakeServer(), disk: MemoryDirectory = MemoryDirectory()) throws
        -> TestBox
    {
        try TestBox(server, disk: disk, sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 1
            $0.maximumReportBytes = 100
        }
    }

    private func submit(_ ids: [String], _ kind: ReportKind, to test: TestBox) throws {
        for id in ids { try test.box.submit(bytes(10), identifier: id, request: upload, kind: kind) }
        test.box.drain()
    }

    @Test func whatWasDroppedIsToldWithTheNextDeliveryAndOnce() throws {
        let test = try fullBox()
        try submit(["a", "b", "c"], crash, to: test)
        try submit(["d"], .standard, to: test)
        #expect(throws: OutboxError.self) { try test.submit("large", 101) }
        test.box.startSending()
        test.box.drain()
        try submit(["e"], crash, to: test)
        #expect(said(to: test.server) == ["no-room;kind=crash;n=3, too-large;kind=default;n=1", nil])
        #expect(!test.disk.names.contains("discarded"))
    }

    @Test func anAttemptThatFailsTellsItAgain() throws {
        let test = try fullBox(FakeServer(first: [.status(.serviceUnavailable), .failure(.connectionLost)]))
        try submit(["a", "b"], crash, to: test)
        test.box.startSending()
        for _ in 0..<3 { test.advance(.seconds(4_000)) }
        let text = "no-room;kind=crash;n=1"
        #expect(said(to: test.server) == [text, text, text] && test.box.count == 0)
    }

    @Test func anotherLaunchTellsIt() throws {
        let disk = MemoryDirectory()
        let first = try fullBox(disk: disk)
        try submit(["a", "b", "c"], crash, to: first)
        // Whatever makes the box look at its reports writes the counts down.
        first.box.startSending()
        first.box.networkIsAvailable(false)
        first.box.drain()
        first.box.abandon()
        first.box.drain()
        disk.kill()
        disk.revive()
        let second = FakeServer()
        let test = try TestBox(second, disk: disk)
        try submit(["d"], crash, to: test)
        #expect(
            said(to: first.server).compactMap { $0 } + said(to: second).compactMap { $0 } == ["no-room;kind=crash;n=2"])
        #expect(!disk.names.contains("discarded"))
    }

    @Test func aClosedBoxHasWrittenTheCountsDown() throws {
        let test = try fullBox()
        try submit(["a", "b"], crash, to: test)
        test.box.abandon()
        test.box.drain()
        #expect(test.disk.names.contains("discarded"))
        test.disk.kill()
        test.disk.revive()
        let next = try TestBox(disk: test.disk)
        #expect(said(to: next.server) == ["no-room;kind=crash;n=1"])
        #expect(!next.events.contains { if case .foreignFiles = $0 { true } else { false } })
    }

    @Test func aLossOfPowerLeavesCountsWholeWhereReportsSurviveIt() throws {
        let test = try TestBox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 1
            $0.durability = .fsync
        }
        try submit(["a", "b"], crash, to: test)
        // A box that is looked after writes the counts down, and the next report flushes their name to the disk.
        test.box.startSending()
        test.box.networkIsAvailable(false)
        test.box.drain()
        try submit(["c"], crash, to: test)
        test.disk.kill()
        test.box.abandon()
        // What the old box has still to write meets a dead disk, and not that of the next one.
        test.box.drain()
        test.disk.revive(afterPowerLoss: true)
        let next = try TestBox(disk: test.disk, sends: false)
        #expect(!next.events.contains { if case .trouble = $0 { true } else { false } })
    }

    @Test func aBoxThatIsClosedLeavesTheDirectoryAlone() throws {
        let test = try fullBox()
        try submit(["a", "b"], crash, to: test)
        test.disk.cut(.fullDisk)
        test.box.abandon()
        test.box.drain()
        test.disk.cut(nil)
        let names = test.disk.names
        #expect(!names.contains("discarded"))
        // Once more, as when the last reference goes, with another box in the directory.
        let next = try TestBox(disk: test.disk, sends: false)
        let operations = test.disk.operations
        test.box.abandon()
        test.box.drain()
        #expect(test.disk.names == names && test.disk.operations == operations)
        next.box.abandon()
    }

    @Test func countsThatAreDamagedAreToldAndHarmNothing() throws {
        for bit in [0, 40, 100, 300] {
            let test = try fullBox()
            try submit(["a", "b"], crash, to: test)
            test.box.abandon()
            test.box.drain()
            test.disk.flipBit(bit, in: "discarded")
            test.disk.kill()
            test.disk.revive()
            let next = try TestBox(disk: test.disk)
            #expect(said(to: next.server) == [nil])
            #expect(next.events.contains { if case .trouble = $0 { true } else { false } })
        }
    }

    @Test func aServerIsToldNothingOfAnother() throws {
        let test = try fullBox()
        try submit(["a", "b"], crash, to: test)
        let other = HTTPRequest(method: .put, host: "other.example.com", path: "/")
        test.box.purge(try #require(ReportID("b")))
        try test.submit("c", to: other)
        test.box.startSending()
        test.box.drain()
        #expect(said(to: test.server) == [nil])
        try submit(["d"], crash, to: test)
        #expect(said(to: test.server) == [nil, "no-room;kind=crash;n=1"])
    }

    @Test func whatTheAppOrTheUserDidNotWantIsNotTold() throws {
        let test = try fullBox()
        try submit(["a", "b"], crash, to: test)
        test.box.setConsent(.denied)
        test.box.setConsent(.given)
        try test.submit("c")
        test.box.purge(try #require(ReportID("c")))
        try test.submit("d")
        test.box.startSending()
        test.box.drain()
        #expect(said(to: test.server) == [nil] && !test.disk.names.contains("discarded"))
    }

    @Test func itCanBeLeftOut() throws {
        let test = try TestBox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 1
            $0.discardedHeader = nil
        }
        try submit(["a", "b"], crash, to: test)
        test.box.startSending()
        test.box.drain()
        #expect(said(to: test.server) == [nil])
    }

    @Test func countsAndTextsAreBoundedAndNothingIsToldTwiceAtATime() {
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
        // What the first one said is still to be told.
        #expect(ledger.take(for: 7, by: 2_000)?.hasPrefix("failed-255;kind=crash;n=256") == true)
        ledger.note("a", crash, for: 1, count: .max)
        ledger.note("a", crash, for: 1, count: .max)
        #expect(ledger.take(for: 1, by: 3_000) == "a;kind=crash;n=\(Int.max)")
    }
}
