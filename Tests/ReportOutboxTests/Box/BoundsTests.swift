import DurableFiles
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

@Suite(.timeLimit(.minutes(10))) struct BoundsTests {
    @Test func aFullBoxRefusesAndKeepsWhatItHas() throws {
        let test = try TestBox(sends: false) {
            $0.maximumCount = 3
            $0.maximumBytes = 100
        }
        for index in 0..<3 { try test.submit("\(index)", 30) }
        for count in [1, 20, 0] {
            let error = #expect(throws: OutboxError.self) { try test.submit("more", count) }
            #expect(error?.code == .boxFull)
        }
        test.box.startSending()
        test.box.drain()
        #expect(test.server.keys == ["0", "1", "2"])
        try test.submit("more", 100)
        #expect(test.server.keys.last == "more")
    }

    @Test func theOldestMakeRoomWhereThePolicySaysSo() throws {
        let test = try TestBox(sends: false) {
            $0.whenFull = .dropOldest
            $0.maximumCount = 3
            $0.maximumBytes = 100
        }
        for index in 0..<5 { try test.submit("\(index)", 30) }
        #expect(test.box.reports.map(\.id.rawValue) == ["2", "3", "4"])
        try test.submit("large", 95)
        #expect(test.box.reports.map(\.id.rawValue) == ["large"])
        #expect(test.box.counters.dropped == ["no-room": 5])
        #expect(test.disk.names.count == 1)
        #expect(throws: OutboxError.self) { try test.submit("larger", 101) }
    }

    @Test(arguments: [OutboxSettings.WhenFull.refuseNew, .dropOldest])
    func whatComesBackFindsTheBoundsToo(_ whenFull: OutboxSettings.WhenFull) throws {
        let test = try TestBox(FakeServer { _, _ in .status(.badRequest) }) {
            $0.refusalsBeforePause = .max
            $0.maximumCount = 3
            $0.whenFull = whenFull
        }
        for number in 0..<10 { try test.submit("\(number)") }
        #expect(test.box.reportsSetAside.count == 10)
        test.box.networkIsAvailable(false)
        for number in 0..<10 {
            let id = try #require(ReportID("\(number)"))
            if number < 3 || whenFull == .dropOldest {
                try test.box.retry(id)
            } else {
                let error = #expect(throws: OutboxError.self) { try test.box.retry(id) }
                #expect(error?.code == .boxFull)
            }
            test.box.drain()
        }
        let isRefusing = whenFull == .refuseNew
        #expect(test.box.reports.map(\.id.rawValue) == (isRefusing ? ["0", "1", "2"] : ["7", "8", "9"]))
        #expect(test.box.reportsSetAside.count == (isRefusing ? 7 : 0))
        #expect(test.box.counters.dropped == (isRefusing ? [:] : ["no-room": 7]))
    }

    @Test func whatCannotBeSetAsideStaysInTheBox() throws {
        let directory = try TemporaryDirectory()
        let (timers, book) = (ManualTimers(), EventBook())
        let server = FakeServer { _, _ in .status(.badRequest) }
        let box = try ReportOutbox(
            files: try SystemDirectory(directory.url), chain: server, settings: .test(timers),
            onEvent: { book.note($0) })
        // There is no folder for them, and no place for one.
        try directory.put(Data(), at: ReportStore.asideFolder)
        for number in 0..<2 { try box.submit(bytes(10), identifier: "\(number)", request: upload) }
        box.drain()
        #expect(box.count == 2 && box.reportsSetAside.isEmpty && box.counters.setAside == [:])
        #expect(!book.events.contains { if case .setAside = $0 { true } else { false } })
        timers.advance(by: .seconds(3_600), draining: box.drain)
        // That it is tried in vain costs no attempt.
        #expect(box.count == 2 && box.reports.map(\.attempts) == [1, 1])
        try FileManager.default.removeItem(at: directory.url.appending(path: ReportStore.asideFolder))
        timers.advance(by: .seconds(3_600), draining: box.drain)
        #expect(box.count == 0 && box.reportsSetAside.count == 2)
        // They were refused once, and not sent again for that.
        #expect(server.receipts.count == 2)
        #expect(book.events.count { if case .setAside = $0 { true } else { false } } == 2)
    }

    @Test func oneThatIsTooLargeLeavesNothing() throws {
        let test = try TestBox(sends: false) { $0.maximumReportBytes = 100_000 }
        let error = #expect(throws: OutboxError.self) { try test.submit("a", 100_001) }
        #expect(error?.code == .tooLarge)
        // One whose length is not known beforehand.
        let pieces = Locked(0)
        let endless = StreamBody {
            pieces.withLock { $0 += 1 }
            return bytes(10_000)
        }
        let second = #expect(throws: OutboxError.self) {
            try test.box.submit(HTTPRequest(method: .put, host: "example.com", body: endless))
        }
        #expect(second?.code == .tooLarge)
        #expect(pieces.withLock { $0 } == 11)
        #expect(test.disk.names == [] && test.box.count == 0 && test.box.bytes == 0)
    }

    @Test func aStreamThatDoesNotFitIsRefusedOnceItsLengthIsKnown() throws {
        let test = try TestBox(sends: false) { $0.maximumBytes = 100 }
        let pieces = Locked(20)
        let stream = StreamBody {
            pieces.withLock { left in
                left -= 1
                return left < 0 ? nil : bytes(10)
            }
        }
        let error = #expect(throws: OutboxError.self) {
            try test.box.submit(HTTPRequest(method: .put, host: "example.com", body: stream))
        }
        #expect(error?.code == .boxFull)
        #expect(test.disk.names == [] && test.box.bytes == 0)
    }

    @Test func whatIsSetAsideIsBoundedToo() throws {
        let test = try TestBox(FakeServer { _, _ in .status(.badRequest) }) {
            $0.maximumSetAsideCount = 2
            $0.refusalsBeforePause = .max
            // The counts of what was discarded are a file of their own.
            $0.discardedHeader = nil
        }
        for index in 0..<5 { try test.submit("\(index)") }
        #expect(test.box.reportsSetAside.map(\.id.rawValue) == ["3", "4"])
        #expect(test.box.counters.dropped == ["no-room": 3])
        #expect(test.disk.names.count == 2)
    }

    @Test func whatWasSetAsideCanBeTriedAgainOrPurged() throws {
        let isRefused = Locked(true)
        let server = FakeServer { _, _ in .status(isRefused.withLock { $0 } ? .badRequest : .ok) }
        let test = try TestBox(server)
        let id = try test.submit("a")
        let other = try test.submit("b")
        isRefused.withLock { $0 = false }
        try test.box.retry(id)
        #expect(throws: OutboxError.self) { try test.box.retry(id) }
        test.box.drain()
        #expect(test.events.last == .delivered(id, .ok))
        #expect(test.box.purge(other))
        #expect(!test.box.purge(other))
        #expect(test.disk.names == [])
    }

    @Test func aFullDiskIsToldAndHarmsNothing() throws {
        let test = try TestBox(sends: false)
        try test.submit("before", 1_000)
        for room in stride(from: 1_000, to: 6_000, by: 100) {
            test.disk.limit(room)
            let error = #expect(throws: OutboxError.self) { try test.submit("too much", 6_000) }
            #expect(error?.code == .diskFull)
        }
        #expect(test.disk.names.count == 1)
        test.disk.limit(.max)
        try test.submit("after", 6_000)
        test.box.startSending()
        test.box.drain()
        #expect(test.server.receipts.map(\.bytes.count) == [1_000, 6_000])
    }

    @Test func aKeyThatIsLostSetsAsideAndOneThatIsFoundTakesBack() throws {
        let disk = MemoryDirectory()
        do {
            let test = try TestBox(disk: disk, sends: false) { $0.seal = XORSeal(key: 1) }
            try test.submit("a", 100_000)
        }
        let written = disk.names.compactMap { disk.bytes(of: $0) }.map { String(decoding: $0, as: UTF8.self) }
        #expect(written.allSatisfy { !$0.contains("reports.example.com") })
        do {
            let test = try TestBox(disk: disk) { $0.seal = XORSeal(key: 2) }
            #expect(test.server.receipts.isEmpty)
            #expect(test.box.counters.setAside == ["sealed": 1])
        }
        let test = try TestBox(disk: disk) { $0.seal = XORSeal(key: 1) }
        try test.box.retry(try #require(ReportID("a")))
        test.box.drain()
        #expect(test.server.receipts.map(\.bytes) == [bytes(100_000)])
    }
}
