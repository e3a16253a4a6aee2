import DurableFilesTesting
import LoaderChain
import Testing

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reports whose files the app keeps.
@Suite(.timeLimit(.minutes(10))) struct LocationTests {
    private struct Places: ReportLocationProvider {
        let directory: URL
        func location(of id: ReportID) -> URL? {
            id.rawValue.hasPrefix("kept") ? directory.appending(path: id.rawValue) : nil
        }
    }

    @Test func aFileStaysWhereItIsUntilItIsDelivered() throws {
        let directory = try TemporaryDirectory()
        let places = Places(directory: directory.url)
        let disk = MemoryDirectory()
        let content = bytes(100_000)
        for name in ["kept-1", "kept-2", "kept-3", "copied"] { try directory.put(content, at: name) }
        do {
            let test = try TestBox(disk: disk, sends: false) { $0.locations = places }
            for name in ["kept-1", "kept-2", "kept-3", "copied"] {
                try test.box.submit(fileAt: directory.url.appending(path: name), identifier: name, request: upload)
            }
            let sizes = disk.names.compactMap { disk.bytes(of: $0)?.count }
            #expect(sizes.filter { $0 < 1_000 }.count == 3)
        }
        try directory.put(bytes(5), at: "kept-2")
        try FileManager.default.removeItem(at: directory.url.appending(path: "kept-3"))
        let test = try TestBox(disk: disk) { $0.locations = places }
        #expect(test.server.keys == ["kept-1", "copied"])
        #expect(test.server.receipts.allSatisfy { $0.bytes == content })
        #expect(directory.names == ["copied", "kept-2"])
        #expect(test.box.counters.setAside == ["damaged": 1])
        #expect(test.box.counters.dropped == ["missing-file": 1])
    }

    /// A provider that deletes whatever is released.
    private struct DeletingPlaces: ReportLocationProvider {
        let places: Places
        func location(of id: ReportID) -> URL? { places.location(of: id) }
        func release(_ id: ReportID, at url: URL, delivered: Bool) { try? FileManager.default.removeItem(at: url) }
    }

    @Test(arguments: [ReportLoss.withoutConsent, .purged, .noRoom])
    func aFileThatWasSetAsideIsReleasedWhenItIsKeptNoLonger(_ loss: ReportLoss) throws {
        let directory = try TemporaryDirectory()
        let test = try TestBox(FakeServer(first: [.status(.badRequest)])) {
            $0.locations = DeletingPlaces(places: Places(directory: directory.url))
            $0.maximumSetAsideCount = loss == .noRoom ? 0 : 1
        }
        func submit() throws {
            try test.box.submit(fileAt: directory.url.appending(path: "kept-1"), identifier: "kept-1", request: upload)
            test.box.drain()
        }
        try directory.put(bytes(10), at: "kept-1")
        try submit()
        if loss != .noRoom { #expect(directory.names == ["kept-1"] && test.box.reportsSetAside.count == 1) }
        if loss == .purged { test.box.purge(try #require(ReportID("kept-1"))) }
        if loss == .withoutConsent { test.box.setConsent(.denied) }
        #expect(directory.names == [] && test.box.reportsSetAside == [])
        #expect(test.box.counters.dropped == [loss.name: 1])
    }

    @Test func aFileStaysWhileAnotherReportOfItsIdentifierNeedsIt() throws {
        let directory = try TemporaryDirectory()
        let test = try TestBox(FakeServer(first: [.status(.badRequest), .silence])) {
            $0.locations = DeletingPlaces(places: Places(directory: directory.url))
        }
        try directory.put(bytes(10), at: "kept-1")
        for _ in 0..<2 {
            try test.box.submit(fileAt: directory.url.appending(path: "kept-1"), identifier: "kept-1", request: upload)
            test.box.drain()
        }
        #expect(test.box.reportsSetAside.count == 1 && test.box.count == 1)
        test.box.purge(try #require(ReportID("kept-1")))
        #expect(directory.names == ["kept-1"] && test.box.reportsSetAside == [] && test.box.count == 1)
    }

    @Test func aFileThatIsNotThereIsRefused() throws {
        let directory = try TemporaryDirectory()
        let test = try TestBox { $0.locations = Places(directory: directory.url) }
        let error = #expect(throws: OutboxError.self) {
            try test.box.submit(
                fileAt: directory.url.appending(path: "kept-1"), identifier: "kept-1", request: upload)
        }
        #expect(error?.code == .unreadable)
    }
}
