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
