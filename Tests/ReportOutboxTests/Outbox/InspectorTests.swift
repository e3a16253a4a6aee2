import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10))) struct InspectorTests {
    /// An outbox with a waiting report and a dead letter.
    private func outbox(_ directory: TemporaryDirectory) throws -> ReportOutbox {
        let server = FakeServer { request, _ in
            request.headers["Idempotency-Key"] == "bad" ? .status(.badRequest) : .status(.serviceUnavailable)
        }
        let outbox = try ReportOutbox(directory: directory.url, chain: server, settings: .test())
        try outbox.submit(bytes(100_000), identifier: "waits", request: upload)
        try outbox.submit(bytes(10), identifier: "bad", request: upload)
        outbox.drain()
        return outbox
    }

    @Test func inspectorReadsOutboxInUseWithoutChangingIt() throws {
        let directory = try TemporaryDirectory()
        let owner = try outbox(directory)
        try directory.put(bytes(3), at: "tmp-1")
        let inspector = try OutboxInspector(directory: directory.url)
        let reports = try inspector.reports()
        #expect(reports.map(\.id.rawValue) == ["waits", "bad"])
        #expect(reports.map(\.deadLetterReason) == [nil, "refused-400"])
        #expect(reports.map(\.attempts) == [1, 1])
        let waits = try #require(ReportID("waits"))
        #expect(try inspector.request(of: waits).url == upload.url)
        let file = directory.url.appending(path: "exported")
        try inspector.export(waits, to: file)
        #expect(try Data(contentsOf: file) == bytes(100_000))
        #expect(throws: OutboxError.self) { try inspector.export(waits, to: file) }
        #expect(throws: OutboxError.self) { try inspector.request(of: try #require(ReportID("nobody"))) }
        #expect(directory.names.contains("tmp-1"))
        let error = #expect(throws: OutboxError.self) { try inspector.purge(waits) }
        #expect(error?.code == .inUse)
        #expect(owner.count == 1)
    }

    @Test func inspectorRetriesAndPurgesReportsOfUnusedOutbox() throws {
        let disk = MemoryDirectory()
        do {
            let test = try TestOutbox(FakeServer { _, _ in .status(.badRequest) }, disk: disk) {
                $0.refusalsBeforePause = .max
            }
            for id in ["a", "b", "c"] { try test.submit(id) }
            disk.kill()
            test.outbox.abandon()
            disk.revive()
        }
        let inspector = OutboxInspector(files: disk)
        let (first, second) = (try #require(ReportID("a")), try #require(ReportID("b")))
        try inspector.retry(first)
        try inspector.purge(second)
        let error = #expect(throws: OutboxError.self) { try inspector.purge(second) }
        #expect(error?.code == .unknownReport)
        #expect(try inspector.reports().map(\.id.rawValue) == ["a", "c"])
        #expect(try inspector.reports().map(\.deadLetterReason) == [nil, "refused-400"])
        #expect(try inspector.purgeAll() == 2)
        #expect(disk.names == [])
    }

    /// The directory is listed as often for many dead letters as for a few.
    @Test func inspectorRetriesAllDeadLettersAtOnce() throws {
        func listings(_ count: Int) throws -> Int {
            let disk = MemoryDirectory()
            do {
                let test = try TestOutbox(FakeServer { _, _ in .status(.badRequest) }, disk: disk) {
                    $0.refusalsBeforePause = .max
                }
                for number in 0..<count { try test.submit("\(number)") }
                disk.kill()
                test.outbox.abandon()
                disk.revive()
            }
            let inspector = OutboxInspector(files: disk)
            // This also clears the log.
            disk.cut(nil)
            #expect(try inspector.retryAll() == count)
            let listings = disk.log.count { $0.hasPrefix("listed ") }
            let reports = try inspector.reports()
            #expect(reports.map(\.id.rawValue) == (0..<count).map { "\($0)" })
            #expect(reports.allSatisfy { $0.deadLetterReason == nil })
            #expect(try inspector.retryAll() == 0)
            return listings
        }
        #expect(try listings(3) == listings(30))
    }

    /// An identifier that is used again can become a dead letter again.
    @Test func deadLetterThatCannotBeReturnedKeepsNoOtherBack() throws {
        let disk = MemoryDirectory()
        do {
            let test = try TestOutbox(FakeServer { _, _ in .status(.badRequest) }, disk: disk) {
                $0.refusalsBeforePause = .max
            }
            for name in ["a", "a", "b"] { try test.submit(name) }
            #expect(test.outbox.deadLetters.map(\.id.rawValue) == ["a", "a", "b"])
            disk.kill()
            test.outbox.abandon()
            disk.revive()
        }
        let inspector = OutboxInspector(files: disk)
        #expect(try inspector.retryAll() == 2)
        let reports = try inspector.reports()
        #expect(reports.filter { $0.deadLetterReason == nil }.map(\.id.rawValue) == ["a", "b"])
        #expect(reports.count == 3)
    }

    @Test func inspectorDoesNotCreateMissingDirectory() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: OutboxError.self) { try OutboxInspector(directory: directory.url.appending(path: "none")) }
        #expect(directory.names == [])
    }
}
