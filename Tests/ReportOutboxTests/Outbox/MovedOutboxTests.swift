import DurableFiles
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// The directory of an outbox is moved while the outbox is open.
@Suite(.timeLimit(.minutes(10)))
struct MovedOutboxTests {
    @Test func outboxKeepsSendingAfterItsDirectoryMoves() throws {
        let (directory, elsewhere) = (try TemporaryDirectory(), try TemporaryDirectory())
        let server = FakeServer()
        let place = directory.url.appending(path: "outbox")
        let outbox = try ReportOutbox(directory: place, chain: server, settings: .test(), startsSending: false)
        for index in 0..<5 { try outbox.submit(bytes(100_000), identifier: "\(index)", request: upload) }
        try FileManager.default.moveItem(at: place, to: elsewhere.url.appending(path: "an outbox, moved"))
        outbox.startSending()
        outbox.drain()
        #expect(server.receipts.map(\.bytes) == Array(repeating: bytes(100_000), count: 5))
        #expect(outbox.counters.attempts == 5 && outbox.counters.retries == 0)
        try outbox.submit(bytes(10), identifier: "after", request: upload)
        outbox.drain()
        #expect(server.keys.last == "after")
    }

    @Test func folderIsFoundAfterItsDirectoryMoves() throws {
        let (directory, elsewhere) = (try TemporaryDirectory(), try TemporaryDirectory())
        let place = directory.url.appending(path: "outbox")
        let files = try SystemDirectory(place)
        try files.makeFolder("folder")
        try FileManager.default.moveItem(at: place, to: elsewhere.url.appending(path: "moved"))
        let folder = try files.folder("folder")
        _ = try folder.create("file")
        #expect(try files.list("folder") == ["file"])
        #expect(directory.names == [])
    }
}
