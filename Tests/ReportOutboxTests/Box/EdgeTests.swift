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

/// What happens seldom, and is told as what it is.
@Suite(.timeLimit(.minutes(10)))
struct EdgeTests {
    @Test func aServerThatIsTooBusyForLargeReportsIsWaitedFor() throws {
        let server = FakeServer(first: [.status(HTTPStatus(413), ["Retry-After": "120"]), .status(HTTPStatus(413))])
        let test = try TestBox(server) { $0.firstDelay = .zero }
        try test.submit("a")
        #expect(test.box.reportsSetAside.isEmpty && test.box.count == 1)
        test.advance(.seconds(119))
        #expect(server.receipts.count == 1)
        test.advance(.seconds(16))
        #expect(server.receipts.count == 2)
        // One that says nothing of a later time has said its last word.
        #expect(test.box.reportsSetAside.map(\.setAsideBecause) == ["refused-413"])
    }

    @Test func identifiersOfOtherBytesAreOthersHoweverTheyLook() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(ReportID(composed) != ReportID(decomposed))
        #expect(Set([ReportID(composed), ReportID(decomposed), ReportID(composed)]).count == 2)
        let disk = MemoryDirectory()
        let test = try TestBox(disk: disk, sends: false)
        try test.submit(composed)
        try test.submit(decomposed)
        #expect(test.box.count == 2)
        test.box.abandon()
        let next = try TestBox(disk: disk)
        #expect(Set(next.server.keys) == ["caf%c3%a9", "cafe%cc%81"])
        #expect(next.box.counters.setAside == [:])
    }

    @Test func attemptsThatCannotBeCountedAnyMoreAreTooMany() throws {
        let disk = MemoryDirectory()
        let test = try TestBox(disk: disk, sends: false)
        try test.submit("a")
        test.box.abandon()
        let name = try #require(disk.names.first { $0.hasSuffix(RecordName.suffix) })
        guard case .name(var record) = RecordName.read(name) else {
            Issue.record("The name cannot be read")
            return
        }
        record.attempts = .max
        disk.put(try #require(disk.bytes(of: name)), at: record.text)
        try disk.remove(name)
        let next = try TestBox(FakeServer { _, _ in .status(.serviceUnavailable) }, disk: disk)
        #expect(next.box.counters.setAside == ["too-many-attempts": 1])
        // Before it is sent once more.
        #expect(next.server.receipts.isEmpty)
    }

    @Test func aDeletedDirectoryIsToldAsWhatItIs() throws {
        let directory = try TemporaryDirectory()
        let book = EventBook()
        let files = try SystemDirectory(directory.url)
        let server = FakeServer()
        let box = try ReportOutbox(
            files: files, chain: server, settings: .test(), startsSending: false, onEvent: { book.note($0) })
        let id = try box.submit(bytes(10), identifier: "a", request: upload)
        try FileManager.default.removeItem(at: directory.url)
        let error = #expect(throws: OutboxError.self) { try box.submit(bytes(10), request: upload) }
        #expect(error?.code == .directory)
        #expect(error?.reason.contains("deleted") == true)
        box.startSending()
        box.drain()
        #expect(server.receipts.isEmpty)
        #expect(book.events.contains(.dropped(id, because: .missingFile)))
        #expect(book.events.contains { if case .trouble(let text) = $0 { text.contains("deleted") } else { false } })
    }

    @Test func aReportThatWasTakenOutOfTheBoxIsMissingAndNotDamaged() throws {
        let test = try TestBox(sends: false)
        let id = try test.submit("a")
        let name = try #require(test.disk.names.first { $0.hasSuffix(RecordName.suffix) })
        try test.disk.remove(name)
        test.box.startSending()
        test.box.drain()
        #expect(test.events.last == .dropped(id, because: .missingFile))
    }
}
