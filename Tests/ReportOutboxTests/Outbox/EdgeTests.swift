import DurableFiles
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// Rare events, and their outcomes.
@Suite(.timeLimit(.minutes(10)))
struct EdgeTests {
    @Test func contentTooLargeWithRetryAfterIsRetried() throws {
        let server = FakeServer(first: [.status(HTTPStatus(413), ["Retry-After": "120"]), .status(HTTPStatus(413))])
        let test = try TestOutbox(server) { $0.firstDelay = .zero }
        try test.submit("a")
        #expect(test.outbox.deadLetters.isEmpty && test.outbox.count == 1)
        test.advance(.seconds(119))
        #expect(server.receipts.count == 1)
        test.advance(.seconds(16))
        #expect(server.receipts.count == 2)
        // A server that does not ask to wait has given its final answer.
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["refused-413"])
    }

    @Test func identifiersOfDifferentNormalizationAreDifferent() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(ReportID(composed) != ReportID(decomposed))
        #expect(Set([ReportID(composed), ReportID(decomposed), ReportID(composed)]).count == 2)
        let disk = MemoryDirectory()
        let test = try TestOutbox(disk: disk, sends: false)
        try test.submit(composed)
        try test.submit(decomposed)
        #expect(test.outbox.count == 2)
        test.outbox.abandon()
        let next = try TestOutbox(disk: disk)
        #expect(Set(next.server.keys) == ["caf%c3%a9", "cafe%cc%81"])
        #expect(next.outbox.counters.deadLettered == [:])
    }

    @Test func reportWithMaximalAttemptCountIsDeadLetteredUnsent() throws {
        let disk = MemoryDirectory()
        let test = try TestOutbox(disk: disk, sends: false)
        try test.submit("a")
        test.outbox.abandon()
        let name = try #require(disk.names.first { $0.hasSuffix(RecordName.suffix) })
        guard case .name(var record) = RecordName.read(name) else {
            Issue.record("The name cannot be read")
            return
        }
        record.attempts = .max
        disk.put(try #require(disk.bytes(of: name)), at: record.text)
        try disk.remove(name)
        let next = try TestOutbox(FakeServer { _, _ in .status(.serviceUnavailable) }, disk: disk)
        #expect(next.outbox.counters.deadLettered == ["too-many-attempts": 1])
        // Before it is sent again.
        #expect(next.server.receipts.isEmpty)
    }

    @Test func deletedDirectoryIsReportedAsDeleted() throws {
        let directory = try TemporaryDirectory()
        let book = EventBook()
        let files = try SystemDirectory(directory.url)
        let server = FakeServer()
        let outbox = try ReportOutbox(
            files: files, chain: server, settings: .test(), startsSending: false, onEvent: { book.note($0) })
        let id = try outbox.submit(bytes(10), identifier: "a", request: upload)
        try FileManager.default.removeItem(at: directory.url)
        let error = #expect(throws: OutboxError.self) { try outbox.submit(bytes(10), request: upload) }
        #expect(error?.code == .directory)
        #expect(error?.reason.contains("deleted") == true)
        outbox.startSending()
        outbox.drain()
        #expect(server.receipts.isEmpty)
        #expect(book.events.contains(.dropped(id, because: .missingFile)))
        #expect(book.events.contains { if case .trouble(let text) = $0 { text.contains("deleted") } else { false } })
    }

    @Test func reportWithDeletedFileIsDroppedAsMissingFile() throws {
        let test = try TestOutbox(sends: false)
        let id = try test.submit("a")
        let name = try #require(test.disk.names.first { $0.hasSuffix(RecordName.suffix) })
        try test.disk.remove(name)
        test.outbox.startSending()
        test.outbox.drain()
        #expect(test.events.last == .dropped(id, because: .missingFile))
    }
}
