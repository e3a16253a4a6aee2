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

    /// The bytes are not in the outbox, and an empty file would pass for them.
    @Test func fileThatTheAppKeepsIsNotExportedAsAnEmptyOne() throws {
        struct OnePlace: ReportLocationProvider {
            let url: URL
            func location(of id: ReportID) -> URL? { url }
        }
        let directory = try TemporaryDirectory()
        let (place, box) = (directory.url.appending(path: "kept"), directory.url.appending(path: "outbox"))
        try bytes(20).write(to: place)
        var settings = OutboxSettings.test()
        settings.locations = OnePlace(url: place)
        let outbox = try ReportOutbox(directory: box, chain: FakeServer(), settings: settings, startsSending: false)
        let id = try outbox.submit(fileAt: place, identifier: "a", request: upload)
        let inspector = try OutboxInspector(directory: box)
        #expect(try inspector.request(of: id).url == upload.url)
        let error = #expect(throws: OutboxError.self) {
            try inspector.export(id, to: directory.url.appending(path: "exported"))
        }
        #expect(error?.code == .unreadable)
        #expect(directory.names == ["kept", "outbox"])
        withExtendedLifetime(outbox) {}
    }

    @Test func inspectorWithoutSealOnlyListsSealedReports() throws {
        let directory = try TemporaryDirectory()
        let (box, file) = (directory.url.appending(path: "outbox"), directory.url.appending(path: "exported"))
        var settings = OutboxSettings.test()
        settings.seal = XORSeal(key: 3)
        let outbox = try ReportOutbox(directory: box, chain: FakeServer(), settings: settings, startsSending: false)
        let id = try outbox.submit(bytes(100), identifier: "a", request: upload)
        let inspector = try OutboxInspector(directory: box)
        #expect(try inspector.reports().map(\.id) == [id])
        #expect(throws: OutboxError.self) { try inspector.request(of: id) }
        #expect(throws: OutboxError.self) { try inspector.export(id, to: file) }
        #expect(directory.names == ["outbox"])
        let opened = try OutboxInspector(directory: box, seal: XORSeal(key: 3))
        #expect(try opened.request(of: id).url == upload.url)
        try opened.export(id, to: file)
        #expect(try Data(contentsOf: file) == bytes(100))
        withExtendedLifetime(outbox) {}
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
