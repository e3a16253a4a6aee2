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

/// A box's directory that is moved while the box is open.
@Suite(.timeLimit(.minutes(10)))
struct MovedBoxTests {
    @Test func aBoxThatIsMovedWhileItIsOpenGoesOnSending() throws {
        let (directory, elsewhere) = (try TemporaryDirectory(), try TemporaryDirectory())
        let server = FakeServer()
        let place = directory.url.appending(path: "box")
        let box = try ReportOutbox(directory: place, chain: server, settings: .test(), startsSending: false)
        for index in 0..<5 { try box.submit(bytes(100_000), identifier: "\(index)", request: upload) }
        try FileManager.default.moveItem(at: place, to: elsewhere.url.appending(path: "a box, moved"))
        box.startSending()
        box.drain()
        #expect(server.receipts.map(\.bytes) == Array(repeating: bytes(100_000), count: 5))
        #expect(box.counters.attempts == 5 && box.counters.retries == 0)
        try box.submit(bytes(10), identifier: "after", request: upload)
        box.drain()
        #expect(server.keys.last == "after")
    }

    @Test func boxesOfOthersAreTakenOverAfterAMoveToo() throws {
        let (directory, elsewhere) = (try TemporaryDirectory(), try TemporaryDirectory())
        let place = directory.url.appending(path: "box")
        let files = try SystemDirectory(place)
        try files.makeFolder("own-1")
        try FileManager.default.moveItem(at: place, to: elsewhere.url.appending(path: "moved"))
        let own = try files.folder("own-1")
        _ = try own.create("file")
        #expect(try files.list("own-1") == ["file"])
        #expect(directory.names == [])
    }
}
