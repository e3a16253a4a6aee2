import Dispatch
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import ReportOutbox

/// Reports whose files the app keeps.
@Suite(.timeLimit(.minutes(10))) struct LocationTests {
    private struct Places: ReportLocationProvider {
        let directory: URL
        func location(of id: ReportID) -> URL? {
            id.rawValue.hasPrefix("kept") ? directory.appending(path: id.rawValue) : nil
        }
    }

    @Test func keptFileStaysInPlaceUntilDelivery() throws {
        let directory = try TemporaryDirectory()
        let places = Places(directory: directory.url)
        let disk = MemoryDirectory()
        let content = bytes(100_000)
        for name in ["kept-1", "kept-2", "kept-3", "copied"] { try directory.put(content, at: name) }
        do {
            let test = try TestOutbox(disk: disk, sends: false) { $0.locations = places }
            for name in ["kept-1", "kept-2", "kept-3", "copied"] {
                try test.outbox.submit(fileAt: directory.url.appending(path: name), identifier: name, request: upload)
            }
            let sizes = disk.names.compactMap { disk.bytes(of: $0)?.count }
            #expect(sizes.filter { $0 < 1_000 }.count == 3)
        }
        try directory.put(bytes(5), at: "kept-2")
        try FileManager.default.removeItem(at: directory.url.appending(path: "kept-3"))
        let test = try TestOutbox(disk: disk) { $0.locations = places }
        #expect(test.server.keys == ["kept-1", "copied"])
        #expect(test.server.receipts.allSatisfy { $0.bytes == content })
        #expect(directory.names == ["copied", "kept-2"])
        #expect(test.outbox.counters.deadLettered == ["damaged": 1])
        #expect(test.outbox.counters.dropped == ["missing-file": 1])
    }

    /// A provider that deletes every released file.
    private struct DeletingPlaces: ReportLocationProvider {
        let places: Places
        func location(of id: ReportID) -> URL? { places.location(of: id) }
        func release(_ id: ReportID, at url: URL, delivered: Bool) { try? FileManager.default.removeItem(at: url) }
    }

    @Test(arguments: [ReportLoss.withoutConsent, .purged, .noRoom])
    func fileOfDroppedDeadLetterIsReleased(_ loss: ReportLoss) throws {
        let directory = try TemporaryDirectory()
        let test = try TestOutbox(FakeServer(first: [.status(.badRequest)])) {
            $0.locations = DeletingPlaces(places: Places(directory: directory.url))
            $0.maximumDeadLetterCount = loss == .noRoom ? 0 : 1
        }
        func submit() throws {
            try test.outbox.submit(
                fileAt: directory.url.appending(path: "kept-1"), identifier: "kept-1", request: upload)
            test.outbox.drain()
        }
        try directory.put(bytes(10), at: "kept-1")
        try submit()
        if loss != .noRoom { #expect(directory.names == ["kept-1"] && test.outbox.deadLetters.count == 1) }
        if loss == .purged { test.outbox.purge(try #require(ReportID("kept-1"))) }
        if loss == .withoutConsent { test.outbox.setConsent(.denied) }
        #expect(directory.names == [] && test.outbox.deadLetters == [])
        #expect(test.outbox.counters.dropped == [loss.name: 1])
    }

    /// A provider that reports what was lost, under one identifier.
    private struct ReportingPlaces: ReportLocationProvider {
        let places: Places
        let outbox: Locked<ReportOutbox?>
        func location(of id: ReportID) -> URL? { places.location(of: id) }
        func release(_ id: ReportID, at url: URL, delivered: Bool) {
            _ = try? outbox.withLock { $0 }?.submit(bytes(3), identifier: "losses", request: upload)
        }
    }

    /// The report with that identifier leaves at the same time, and a submission waits until it has left.
    @Test func appMaySubmitWhileSeveralReportsLeave() throws {
        let directory = try TemporaryDirectory()
        let places = Places(directory: directory.url)
        let disk = MemoryDirectory()
        try directory.put(bytes(10), at: "kept-1")
        do {
            let test = try TestOutbox(disk: disk, sends: false) { $0.locations = places }
            try test.outbox.submit(
                fileAt: directory.url.appending(path: "kept-1"), identifier: "kept-1", request: upload)
            for name in ["losses", "last"] { try test.submit(name) }
        }
        let (box, server, gate) = (Locked<ReportOutbox?>(nil), FakeServer(), DispatchSemaphore(value: 0))
        var settings = OutboxSettings.test()
        settings.locations = ReportingPlaces(places: places, outbox: box)
        settings.whenFull = .dropOldest
        settings.maximumBytes = 15
        // The app is asked before reports are dropped for lack of room.
        let outbox = try ReportOutbox(files: disk, chain: server, settings: settings) { _ in
            gate.wait()
            gate.signal()
            return .keep
        }
        box.withLock { $0 = outbox }
        gate.signal()
        outbox.drain()
        #expect(server.keys.sorted() == ["last", "losses"])
        #expect(server.receipts.contains { $0.key == "losses" && $0.bytes == bytes(3) })
        box.withLock { $0 = nil }
    }

    @Test func fileIsKeptWhileAnotherReportWithItsIdentifierExists() throws {
        let directory = try TemporaryDirectory()
        let test = try TestOutbox(FakeServer(first: [.status(.badRequest), .silence])) {
            $0.locations = DeletingPlaces(places: Places(directory: directory.url))
        }
        try directory.put(bytes(10), at: "kept-1")
        for _ in 0..<2 {
            try test.outbox.submit(
                fileAt: directory.url.appending(path: "kept-1"), identifier: "kept-1", request: upload)
            test.outbox.drain()
        }
        #expect(test.outbox.deadLetters.count == 1 && test.outbox.count == 1)
        test.outbox.purge(try #require(ReportID("kept-1")))
        #expect(directory.names == ["kept-1"] && test.outbox.deadLetters == [] && test.outbox.count == 1)
    }

    @Test func missingFileIsRejectedOnSubmit() throws {
        let directory = try TemporaryDirectory()
        let test = try TestOutbox { $0.locations = Places(directory: directory.url) }
        let error = #expect(throws: OutboxError.self) {
            try test.outbox.submit(
                fileAt: directory.url.appending(path: "kept-1"), identifier: "kept-1", request: upload)
        }
        #expect(error?.code == .unreadable)
    }
}
