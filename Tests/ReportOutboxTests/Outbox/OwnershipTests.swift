import Dispatch
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import ReportOutbox

/// A directory has one owner, on a real file system.
@Suite(.timeLimit(.minutes(10))) struct OwnershipTests {
    @Test func directoryIsInUseUntilOutboxIsClosed() async throws {
        let directory = try TemporaryDirectory()
        let first = try ReportOutbox(directory: directory.url, chain: FakeServer(), settings: .test())
        let error = #expect(throws: OutboxError.self) {
            _ = try ReportOutbox(directory: directory.url, chain: FakeServer(), settings: .test())
        }
        #expect(error?.code == .inUse)
        await first.close()
        let second = try ReportOutbox(directory: directory.url, chain: FakeServer(), settings: .test())
        #expect(second.count == 0)
        #expect(first.purgeAll() == 0)
    }

    /// Calls that wait for the end while another thread unlocks the directory.
    @Test func closeWaitsUntilDirectoryIsUnlocked() async throws {
        let (releasing, released) = (EventLog(), DispatchSemaphore(value: 0))
        let engine = OutboxEngine(
            ReportStore(files: MemoryDirectory(), durability: .process, seal: nil),
            ownership: SlowRelease(begins: { releasing.note("") }, mayEnd: released), chain: FakeServer(),
            settings: .test(), existing: nil, onEvent: nil)
        let stopping = try SystemThread { engine.stop() }
        await releasing.waitForEvents(1)
        let log = EventLog()
        Task {
            await engine.waitUntilStopped()
            log.note("free")
        }
        try await eventually("the caller waits") {
            !log.events.isEmpty || engine.shared.withLock { $0.closers.count } == 1
        }
        #expect(log.events.isEmpty)
        released.signal()
        await log.waitForEvents(1)
        stopping.join()
    }

    /// A loader that never ends a task, whatever happens to it.
    private final class DeafLoader: HTTPLoader, @unchecked Sendable {
        let tasks = Locked<[HTTPTask]>([])
        private let cancels: Bool
        init(cancels: Bool) { self.cancels = cancels }

        override func load(task: HTTPTask) {
            tasks.withLock { $0.append(task) }
            if cancels { task.cancel() }
        }
    }

    /// Another loader, such as `Autocancel`, may have cancelled the attempt before.
    @Test(arguments: [false, true])
    func loaderThatIgnoresCancelKeepsNeitherPlaceNorDirectory(isCancelled: Bool) async throws {
        let (timers, loader, book) = (ManualTimers(), DeafLoader(cancels: isCancelled), EventBook())
        let outbox = try ReportOutbox(
            files: MemoryDirectory(), chain: loader, settings: .test(timers), existing: nil,
            onEvent: { book.note($0) })
        try outbox.submit(bytes(10), identifier: "a", request: upload)
        outbox.drain()
        // The attempt's time, the loader's, and the pause before the next attempt.
        while loader.tasks.withLock({ $0.count }) < 2 {
            try #require(timers.advanceToNext())
            outbox.drain()
        }
        let events = outbox.events
        let closed = EventLog()
        Task {
            await outbox.close()
            closed.note("")
        }
        try await eventually("the outbox is closed") {
            timers.advance(by: .seconds(10))
            return !closed.events.isEmpty
        }
        // The stream ends after the last attempt.
        var last: ReportEvent?
        for await event in events { last = event }
        #expect(last == book.events.last)
        guard case .willRetry(_, _, .error(.cancelled)) = last else {
            Issue.record("\(last as Any)")
            return
        }
    }

    @Test func directoryIsAccessibleOnlyToItsUser() throws {
        let directory = try TemporaryDirectory()
        let place = directory.url.appending(path: "a/b/c")
        let outbox = try ReportOutbox(directory: place, chain: FakeServer(), settings: .test(), startsSending: false)
        try outbox.submit(bytes(5), identifier: "a", request: upload)
        for name in ["", "lock"]
            + (try FileManager.default.contentsOfDirectory(atPath: place.path(percentEncoded: false)))
        {
            let path = place.appending(path: name).path(percentEncoded: false)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o077 == 0)
        }
    }

    @Test func unusableDirectoryIsRejected() throws {
        let directory = try TemporaryDirectory()
        try directory.put(bytes(1), at: "file")
        for url in [directory.url.appending(path: "file"), directory.url.appending(path: "file/below")] {
            let error = #expect(throws: OutboxError.self) { _ = try ReportOutbox(directory: url, chain: FakeServer()) }
            #expect(error?.code == .directory)
        }
        if let web = URL(string: "https://example.com") {
            #expect(throws: OutboxError.self) { _ = try ReportOutbox(directory: web, chain: FakeServer()) }
        }
    }

    @Test func outboxWorksOnRealFileSystem() throws {
        let directory = try TemporaryDirectory()
        let server = FakeServer { request, _ in
            request.headers["Idempotency-Key"] == "bad" ? .status(.badRequest) : .status(.ok)
        }
        var settings = OutboxSettings.test()
        settings.durability = .fsync
        let outbox = try ReportOutbox(directory: directory.url, chain: server, settings: settings, startsSending: false)
        for id in RecordNameTests.awkward + ["bad"] {
            try outbox.submit(bytes(200_000), identifier: id, request: upload)
        }
        outbox.startSending()
        outbox.drain()
        #expect(outbox.counters.delivered == RecordNameTests.awkward.count)
        #expect(outbox.deadLetters.map(\.id.rawValue) == ["bad"])
        #expect(server.receipts.allSatisfy { $0.bytes == bytes(200_000) })
        #expect(directory.names == ["aside", "lock"])
    }
}

/// A value whose release takes as long as a test wants.
private final class SlowRelease: Sendable {
    private let begins: @Sendable () -> Void
    private let mayEnd: DispatchSemaphore

    init(begins: @escaping @Sendable () -> Void, mayEnd: DispatchSemaphore) {
        self.begins = begins
        self.mayEnd = mayEnd
    }

    deinit {
        begins()
        mayEnd.wait()
    }
}
