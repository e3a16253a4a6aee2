import Dispatch
import DurableFiles
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestProcesses
import TestSizes
import Testing

@testable import ReportOutbox

/// The contents of a directory at launch, and their handling.
@Suite(.timeLimit(.minutes(10))) struct LaunchTests {
    /// A disk with reports that an earlier launch left unsent.
    private func left(_ ids: [String], on disk: MemoryDirectory = MemoryDirectory()) throws -> MemoryDirectory {
        let test = try TestOutbox(disk: disk, sends: false)
        for id in ids { try test.submit(id) }
        return disk
    }

    @Test func storedReportsAreSentInOrderAtLaunch() throws {
        let ids = (0..<30).map { "report \($0)" }
        let test = try TestOutbox(disk: try left(ids)) { $0.maximumInFlight = 1 }
        #expect(test.server.keys == ids.map { ReportID($0)?.idempotencyKey })
        #expect(test.outbox.counters.found == 30)
        #expect(test.outbox.counters.delivered == 30)
        #expect(test.disk.names == [])
    }

    @Test func existingHandlerDecidesAboutEachReportBeforeSending() throws {
        let disk = try left(["keep", "replace", "drop"])
        let server = FakeServer()
        let seen = Locked<[String]>([])
        let test = try TestOutbox(
            server, disk: disk,
            existing: { report in
                seen.withLock { $0.append(report.id.rawValue) }
                #expect(server.receipts.isEmpty)
                #expect(report.date == ManualTimers.defaultDate && report.attempts == 0 && report.size == 10)
                #expect((try? report.request())?.url == upload.url)
                switch report.id.rawValue {
                case "replace": return .replace(HTTPRequest(method: .post, host: "new.example.com", path: "/new"))
                case "drop": return .drop
                default: return .keep
                }
            })
        #expect(seen.withLock { $0 } == ["keep", "replace", "drop"])
        #expect(server.requests.map(\.host) == ["reports.example.com", "new.example.com"])
        #expect(server.receipts.map(\.bytes) == [bytes(10), bytes(10)])
        #expect(server.requests.last?.headers["Content-Type"] == "application/octet-stream")
        #expect(test.outbox.counters.dropped == ["by-handler": 1])
    }

    @Test func replacementWithSecretIsRejectedAndReportIsUnchanged() throws {
        let disk = try left(["a"])
        let test = try TestOutbox(
            disk: disk,
            existing: { _ in
                .replace(HTTPRequest(host: "example.com", headers: ["Authorization": "Bearer secret"]))
            })
        #expect(test.server.requests.map(\.url) == [upload.url])
        #expect(test.events.contains { if case .trouble(let text) = $0 { !text.contains("Bearer") } else { false } })
    }

    /// Otherwise a report that is replaced in each launch would be sent for ever.
    @Test func replacedReportKeepsItsAttempts() throws {
        let disk = MemoryDirectory()
        let server = FakeServer { _, _ in .status(.serviceUnavailable) }
        do {
            let test = try TestOutbox(server, disk: disk)
            try test.submit("a")
            disk.kill()
            test.outbox.abandon()
            test.outbox.drain()
            disk.revive()
        }
        let test = try TestOutbox(
            server, disk: disk, { $0.maximumAttempts = 2 },
            existing: { _ in .replace(HTTPRequest(method: .put, host: "new.example.com", path: "/")) })
        #expect(test.outbox.reports.map(\.attempts) == [1])
        _ = test.attemptTimes(atMost: 5)
        #expect(server.requests.map(\.host) == ["reports.example.com", "new.example.com"])
        #expect(test.outbox.deadLetters.map(\.deadLetterReason) == ["too-many-attempts"])
    }

    @Test func sendNowDuringExistingHandlerIncludesItsReport() async throws {
        let disk = MemoryDirectory()
        let settings = OutboxSettings.test()
        let first = try ReportOutbox(
            files: disk, chain: FakeServer { _, _ in .status(.badGateway) }, settings: settings)
        try first.submit(bytes(10), identifier: "a", request: upload)
        first.drain()
        await first.close()
        let isAsked = Locked(false)
        let gate = DispatchSemaphore(value: 0)
        let outbox = try ReportOutbox(
            files: disk, chain: FakeServer(), settings: settings,
            existing: { _ in
                isAsked.withLock { $0 = true }
                gate.wait()
                return .keep
            })
        try await eventually("the handler is asked") { isAsked.withLock { $0 } }
        outbox.sendNow()
        gate.signal()
        outbox.drain()
        #expect(outbox.counters.delivered == 1)
    }

    @Test func corruptFilesAreDeadLetteredAndForeignFilesReported() throws {
        let disk = try left(["good", "torn", "empty", "swapped", "other"])
        func name(_ id: String) throws -> String { try #require(disk.names.first { $0.hasSuffix("-\(id).report") }) }
        let torn = try name("torn")
        disk.put(try #require(disk.bytes(of: torn)).dropLast(3), at: torn)
        disk.put(Data(), at: try name("empty"))
        disk.put(try #require(disk.bytes(of: try name("other"))), at: try name("swapped"))
        for foreign in [".DS_Store", "notes.txt", "x.report", "no/such", "naïve\u{202E}", "0-0-0-0-0-0-0-.report"] {
            disk.put(bytes(5), at: foreign)
        }
        disk.put(bytes(5), at: "tmp-77")
        let test = try TestOutbox(disk: disk)
        #expect(test.server.keys == ["good", "other"])
        #expect(test.outbox.deadLetters.map(\.id.rawValue).sorted() == ["empty", "swapped", "torn"])
        #expect(test.outbox.counters.deadLettered == ["damaged": 3])
        #expect(!disk.names.contains("tmp-77"))
        #expect(disk.names.contains("notes.txt"))
        let isTold = test.events.contains { if case .foreignFiles(6, _) = $0 { true } else { false } }
        #expect(isTold)
        #expect(!test.events.contains { if case .trouble = $0 { true } else { false } })
    }

    @Test func copyOfReportIsDeadLetteredAsDuplicate() throws {
        let disk = try left(["a"])
        let name = try #require(disk.names.first)
        disk.put(try #require(disk.bytes(of: name)), at: "0000000000000099" + name.dropFirst(16))
        let test = try TestOutbox(disk: disk)
        #expect(test.server.keys == ["a"])
        #expect(test.outbox.counters.deadLettered == ["duplicate": 1])
    }

    @Test func olderReportWithSameIdentifierIsDeadLettered() throws {
        let disk = MemoryDirectory()
        let first = try TestOutbox(disk: disk, sends: false)
        try first.submit("a", 10)
        let older = try #require(disk.names.first)
        let olderBytes = try #require(disk.bytes(of: older))
        first.outbox.purge(try #require(ReportID("a")))
        try first.submit("a", 20)
        first.outbox.abandon()
        // For example, if a file could not be removed.
        disk.put(olderBytes, at: older)
        disk.kill()
        disk.revive()
        let test = try TestOutbox(disk: disk)
        #expect(test.server.receipts.map(\.bytes.count) == [20])
        #expect(test.outbox.counters.deadLettered == ["duplicate": 1] && test.outbox.deadLetters.map(\.size) == [10])
    }

    @Test func foundReportSurvivesLaterPowerLoss() throws {
        var wasFoundUnpromised = false
        for operation in 1...12 {
            let disk = MemoryDirectory()
            func open() throws -> TestOutbox { try TestOutbox(disk: disk, sends: false) { $0.durability = .fsync } }
            let first = try open()
            disk.cut(.death(at: operation))
            let isPromised = (try? first.submit("a")) != nil && !disk.isDead
            disk.kill()
            first.outbox.abandon()
            // The old outbox writes its remaining data to a dead disk, and not to that of the next one.
            first.outbox.drain()
            disk.cut(nil)
            disk.revive()
            let second = try open()
            let count = second.outbox.count
            if count == 1, !isPromised { wasFoundUnpromised = true }
            disk.kill()
            second.outbox.abandon()
            second.outbox.drain()
            disk.revive(afterPowerLoss: true)
            #expect(try open().outbox.count == count)
        }
        #expect(wasFoundUnpromised)
    }

    @Test func reportWithFutureDateIsTreatedAsNew() throws {
        let disk = MemoryDirectory()
        do {
            let test = try TestOutbox(disk: disk, sends: false)
            test.timers.setDate(.distantFuture)
            try test.submit("a")
        }
        let test = try TestOutbox(FakeServer { _, _ in .status(.badGateway) }, disk: disk)
        #expect(test.server.receipts.count == 1)
        #expect(test.outbox.count == 1)
        // It waits like any other report, and not until its date.
        let due = try #require(test.timers.nextDeadline)
        #expect(due <= test.timers.now.advanced(by: .seconds(60)))
        #expect(test.timers.advanceToNext())
        test.outbox.drain()
        #expect(test.server.receipts.count == 2)
    }

    @Test(arguments: [nil, XORSeal(key: 1)] as [XORSeal?])
    func unusualIdentifiersSurviveALaunch(_ seal: XORSeal?) throws {
        let disk = MemoryDirectory()
        do {
            let test = try TestOutbox(disk: disk, sends: false) { $0.seal = seal }
            for id in RecordNameTests.awkward {
                try test.submit(id)
                // A second submission joins the first.
                try test.submit(id)
            }
        }
        let test = try TestOutbox(disk: disk) { $0.seal = seal }
        // Two encodings of the same text are two identifiers.
        let expected = Set(RecordNameTests.awkward.map { ReportID($0) })
        #expect(Set(test.events.compactMap { if case .found(let id, _) = $0 { id } else { nil } }) == expected)
        #expect(test.outbox.counters.delivered == expected.count)
    }

    @Test func thousandsOfReportsAreFoundAtLaunch() throws {
        let count = testSize("OUTBOX_REPORTS", usually: 3_000)
        let directory = try TemporaryDirectory()
        var settings = OutboxSettings.test()
        settings.maximumCount = .max
        let files = try SystemDirectory(directory.url)
        do {
            let outbox = try ReportOutbox(files: files, chain: HTTPLoader(), settings: settings, startsSending: false)
            for index in 0..<count {
                try outbox.submit(Data("\(index)".utf8), identifier: "id-\(index)", request: upload)
            }
            outbox.drain()
            #expect(outbox.count == count)
        }
        let outbox = try ReportOutbox(files: files, chain: HTTPLoader(), settings: settings, startsSending: false)
        outbox.drain()
        #expect(outbox.count == count)
        #expect(outbox.reports.map(\.id.rawValue) == (0..<count).map { "id-\($0)" })
    }

    #if os(Linux) || os(macOS)
        /// In a separate process, because the other tests need memory too.
        @Test func thousandsOfReportsTakeLittleMemory() async throws {
            let directory = try TemporaryDirectory()
            let outcome = try await ChildProcess.run(
                ChildProcess.product("OutboxChild"), ["memory", directory.url.path, "3000"])
            withExtendedLifetime(directory) {}
            let growth = try #require(Int(outcome.output), "\(outcome.output) \(outcome.errors) \(outcome.end)")
            // A sanitizer needs additional memory for each byte.
            guard ProcessInfo.processInfo.environment["TEST_STACK_KILOBYTES"] == nil else { return }
            #expect(growth < 100 << 20)
        }
    #endif
}
