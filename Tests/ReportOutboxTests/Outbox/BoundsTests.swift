import DurableFiles
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10))) struct BoundsTests {
    @Test func fullOutboxRejectsNewReportsAndKeepsOldReports() throws {
        let test = try TestOutbox(sends: false) {
            $0.maximumCount = 3
            $0.maximumBytes = 100
        }
        for index in 0..<3 { try test.submit("\(index)", 30) }
        for count in [1, 20, 0] {
            let error = #expect(throws: OutboxError.self) { try test.submit("more", count) }
            #expect(error?.code == .full)
        }
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.server.keys == ["0", "1", "2"])
        try test.submit("more", 100)
        #expect(test.server.keys.last == "more")
    }

    @Test func dropOldestPolicyDropsOldestReports() throws {
        let test = try TestOutbox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 3
            $0.maximumBytes = 100
        }
        for index in 0..<5 { try test.submit("\(index)", 30) }
        #expect(test.outbox.reports.map(\.id.rawValue) == ["2", "3", "4"])
        try test.submit("large", 95)
        #expect(test.outbox.reports.map(\.id.rawValue) == ["large"])
        #expect(test.outbox.counters.dropped == ["no-room": 5])
        #expect(test.disk.names.count == 1)
        #expect(throws: OutboxError.self) { try test.submit("larger", 101) }
    }

    @Test(arguments: [OutboxSettings.WhenFull.refuseNew, .dropOldest])
    func retriedDeadLetterIsSubjectToMaximumCount(_ whenFull: OutboxSettings.WhenFull) throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.badRequest) }) {
            $0.refusalsBeforePause = .max
            $0.maximumCount = 3
            $0.whenFull = whenFull
        }
        for number in 0..<10 { try test.submit("\(number)") }
        #expect(test.outbox.deadLetters.count == 10)
        test.outbox.setNetwork(isAvailable: false)
        for number in 0..<10 {
            let id = try #require(ReportID("\(number)"))
            if number < 3 || whenFull == .dropOldest {
                try test.outbox.retry(id)
            } else {
                let error = #expect(throws: OutboxError.self) { try test.outbox.retry(id) }
                #expect(error?.code == .full)
            }
            test.outbox.drain()
        }
        let isRefusing = whenFull == .refuseNew
        #expect(test.outbox.reports.map(\.id.rawValue) == (isRefusing ? ["0", "1", "2"] : ["7", "8", "9"]))
        #expect(test.outbox.deadLetters.count == (isRefusing ? 7 : 0))
        #expect(test.outbox.counters.dropped == (isRefusing ? [:] : ["no-room": 7]))
    }

    @Test func reportStaysInOutboxIfDeadLetterCannotBeStored() throws {
        let directory = try TemporaryDirectory()
        let (timers, book) = (ManualTimers(), EventBook())
        let server = FakeServer { _, _ in .status(.badRequest) }
        let outbox = try ReportOutbox(
            files: try SystemDirectory(directory.url), chain: server, settings: .test(timers),
            onEvent: { book.note($0) })
        // The folder for dead letters is missing and cannot be created.
        try directory.put(Data(), at: ReportStore.deadLetterFolder)
        for number in 0..<2 { try outbox.submit(bytes(10), identifier: "\(number)", request: upload) }
        outbox.drain()
        #expect(outbox.count == 2 && outbox.deadLetters.isEmpty && outbox.counters.deadLettered == [:])
        #expect(!book.events.contains { if case .deadLettered = $0 { true } else { false } })
        timers.advance(by: .seconds(3_600), draining: outbox.drain)
        // Failing to move it costs no attempt.
        #expect(outbox.count == 2 && outbox.reports.map(\.attempts) == [1, 1])
        try FileManager.default.removeItem(at: directory.url.appending(path: ReportStore.deadLetterFolder))
        timers.advance(by: .seconds(3_600), draining: outbox.drain)
        #expect(outbox.count == 0 && outbox.deadLetters.count == 2)
        // They were rejected once, and not sent again because of that.
        #expect(server.receipts.count == 2)
        #expect(book.events.count { if case .deadLettered = $0 { true } else { false } } == 2)
    }

    @Test func tooLargeReportIsRejectedAndLeavesNoFile() throws {
        let test = try TestOutbox(sends: false) { $0.maximumReportBytes = 100_000 }
        let error = #expect(throws: OutboxError.self) { try test.submit("a", 100_001) }
        #expect(error?.code == .tooLarge)
        // A report of unknown length.
        let pieces = Locked(0)
        let endless = StreamBody {
            pieces.withLock { $0 += 1 }
            return bytes(10_000)
        }
        let second = #expect(throws: OutboxError.self) {
            try test.outbox.submit(HTTPRequest(method: .put, host: "example.com", body: endless))
        }
        #expect(second?.code == .tooLarge)
        #expect(pieces.withLock { $0 } == 11)
        #expect(test.disk.names == [] && test.outbox.count == 0 && test.outbox.bytes == 0)
    }

    @Test func streamThatExceedsMaximumBytesIsRejected() throws {
        let test = try TestOutbox(sends: false) { $0.maximumBytes = 100 }
        let pieces = Locked(20)
        let stream = StreamBody {
            pieces.withLock { left in
                left -= 1
                return left < 0 ? nil : bytes(10)
            }
        }
        let error = #expect(throws: OutboxError.self) {
            try test.outbox.submit(HTTPRequest(method: .put, host: "example.com", body: stream))
        }
        #expect(error?.code == .full)
        #expect(test.disk.names == [] && test.outbox.bytes == 0)
    }

    @Test func oldestDeadLettersAreDroppedBeyondTheirMaximum() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.badRequest) }) {
            $0.maximumDeadLetterCount = 2
            $0.refusalsBeforePause = .max
            // The counts of lost reports are a separate file.
            $0.discardedHeader = nil
        }
        for index in 0..<5 { try test.submit("\(index)") }
        #expect(test.outbox.deadLetters.map(\.id.rawValue) == ["3", "4"])
        #expect(test.outbox.counters.dropped == ["no-room": 3])
        #expect(test.disk.names.count == 2)
    }

    @Test func deadLetterCanBeRetriedOrPurged() throws {
        let isRefused = Locked(true)
        let server = FakeServer { _, _ in .status(isRefused.withLock { $0 } ? .badRequest : .ok) }
        let test = try TestOutbox(server)
        let id = try test.submit("a")
        let other = try test.submit("b")
        isRefused.withLock { $0 = false }
        try test.outbox.retry(id)
        #expect(throws: OutboxError.self) { try test.outbox.retry(id) }
        test.outbox.drain()
        #expect(test.events.last == .delivered(id, .ok))
        #expect(test.outbox.purge(other))
        #expect(!test.outbox.purge(other))
        #expect(test.disk.names == [])
    }

    /// Its attempts and its age begin again; otherwise the first failure would be the last.
    @Test func retriedDeadLetterStartsOver() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.serviceUnavailable) }) {
            $0.maximumAttempts = 3
            $0.maximumAge = .seconds(3_600)
            $0.firstDelay = .seconds(1)
        }
        let id = try test.submit("a")
        _ = test.attemptTimes(atMost: 10)
        #expect(test.outbox.deadLetters.map(\.attempts) == [3])
        let unknown = #expect(throws: OutboxError.self) { try test.outbox.retry(try #require(ReportID("b"))) }
        #expect(unknown?.code == .unknownReport)
        test.advance(.seconds(7_200))
        try test.outbox.retry(id)
        test.outbox.drain()
        #expect(test.outbox.reports.map(\.attempts) == [1] && test.outbox.deadLetters == [])
        let submitted = try #require(test.outbox.reports.first).date
        #expect(abs(submitted.timeIntervalSince(test.timers.date)) < 0.01)
        // It is in the outbox, and no dead letter any more.
        let again = #expect(throws: OutboxError.self) { try test.outbox.retry(id) }
        #expect(again?.code == .unknownReport)
    }

    @Test func purgeLeavesReportsThatAreBeingSent() throws {
        let server = FakeServer { request, _ in
            let key = request.headers["Idempotency-Key"]
            return key == "bad" ? .status(.badRequest) : key == "late" ? .status(.serviceUnavailable) : .silence
        }
        let test = try TestOutbox(server)
        for id in ["bad", "late", "held"] { try test.submit(id) }
        #expect(test.outbox.reports.map(\.isBeingSent) == [false, true] && test.outbox.deadLetters.count == 1)
        let held = try #require(ReportID("held"))
        #expect(!test.outbox.purge(held))
        #expect(test.outbox.purgeAll() == 2)
        #expect(test.outbox.reports.map(\.id) == [held] && test.outbox.deadLetters == [])
        #expect(test.outbox.counters.dropped == ["purged": 2])
        #expect(test.outbox.purgeAll() == 0)
    }

    @Test func oldestDeadLettersAreDroppedBeyondTheirBytes() throws {
        let test = try TestOutbox(FakeServer { _, _ in .status(.badRequest) }) {
            $0.maximumDeadLetterBytes = 100
            $0.refusalsBeforePause = .max
        }
        for index in 0..<4 { try test.submit("\(index)", 40) }
        #expect(test.outbox.deadLetters.map(\.id.rawValue) == ["2", "3"])
        #expect(test.outbox.counters.dropped == ["no-room": 2])
    }

    @Test func submitFailsOnFullDiskAndKeepsOtherReports() throws {
        let test = try TestOutbox(sends: false)
        try test.submit("before", 1_000)
        for room in stride(from: 1_000, to: 6_000, by: 100) {
            test.disk.limit(room)
            let error = #expect(throws: OutboxError.self) { try test.submit("too much", 6_000) }
            #expect(error?.code == .diskFull)
        }
        #expect(test.disk.names.count == 1)
        test.disk.limit(.max)
        try test.submit("after", 6_000)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.server.receipts.map(\.bytes.count) == [1_000, 6_000])
    }

    @Test func reportWithUnknownSealKeyIsDeadLetteredAndRecoverable() throws {
        let disk = MemoryDirectory()
        do {
            let test = try TestOutbox(disk: disk, sends: false) { $0.seal = XORSeal(key: 1) }
            try test.submit("a", 100_000)
        }
        let written = disk.names.compactMap { disk.bytes(of: $0) }.map { String(decoding: $0, as: UTF8.self) }
        #expect(written.allSatisfy { !$0.contains("reports.example.com") })
        do {
            let test = try TestOutbox(disk: disk) { $0.seal = XORSeal(key: 2) }
            #expect(test.server.receipts.isEmpty)
            #expect(test.outbox.counters.deadLettered == ["sealed": 1])
        }
        let test = try TestOutbox(disk: disk) { $0.seal = XORSeal(key: 1) }
        try test.outbox.retry(try #require(ReportID("a")))
        test.outbox.drain()
        #expect(test.server.receipts.map(\.bytes) == [bytes(100_000)])
    }
}
