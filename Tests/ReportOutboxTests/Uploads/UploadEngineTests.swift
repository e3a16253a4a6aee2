import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import ReportOutbox

@Suite(.timeLimit(.minutes(10)))
struct UploadEngineTests {
    private func request(_ id: String) -> HTTPRequest {
        var request = upload
        request.headers["Idempotency-Key"] = id
        request.body = DataBody(UploadLife.content(id))
        return request
    }

    /// Loads without an outbox, and returns the task and its results.
    private func load(_ request: HTTPRequest, _ life: UploadLife) -> (task: HTTPTask, results: Locked<[HTTPResult]>)? {
        let results = Locked<[HTTPResult]>([])
        let task = life.terminal?.load(request: request) { result in results.withLock { $0.append(result) } }
        life.drain()
        return task.map { ($0, results) }
    }

    // MARK: What was reported

    @Test func relaunchJoinsRunningUpload() {
        let life = UploadLife()
        life.launch()
        life.submit("a")
        life.kill()
        life.launch()
        life.daemon.list()
        life.drain()
        life.daemon.arrive()
        life.daemon.answer()
        life.daemon.finishEvents()
        life.drain()
        #expect(life.daemon.begun == 1 && life.daemon.stopped == 0)
        #expect(life.daemon.accepted == ["a": 1] && life.delivered == 1)
        #expect(life.faults() == [])
    }

    @Test func uploadEndedInBackgroundIsNotSentAgain() {
        let life = UploadLife()
        life.launch()
        life.submit("a")
        life.kill()
        life.daemon.arrive()
        life.daemon.answer()
        // The system launches the app only for the events, and ends it again.
        life.launch(opensOutbox: false)
        life.daemon.list()
        life.daemon.finishEvents()
        life.drain()
        life.kill()
        life.launch()
        #expect(life.daemon.begun == 1 && life.delivered == 1)
        #expect(life.faults() == [])
    }

    @Test func uploadOutlivesAttemptTimeoutAndClose() async {
        let life = UploadLife()
        life.launch()
        life.submit("a")
        life.timers.advance(by: .seconds(3 * 3600))
        life.drain()
        #expect(life.daemon.running == 1 && life.attempts == [1])
        await life.outbox?.close()
        life.close()
        life.open()
        // A detached attempt waits like any other.
        life.advance(60)
        #expect(life.daemon.running == 1 && life.daemon.begun == 1 && life.attempts == [1])
        life.daemon.arrive()
        life.daemon.answer()
        life.daemon.deliver()
        life.drain()
        #expect(life.delivered == 1)
        #expect(life.faults() == [])
    }

    @Test func attemptsCountUploadsNotLaunches() {
        let life = UploadLife()
        life.launch()
        life.submit("a")
        for _ in 0..<10 {
            life.kill()
            life.launch()
            life.daemon.list()
            life.drain()
        }
        #expect(life.attempts == [1])
        life.daemon.arrive(.serviceUnavailable)
        life.daemon.answer(["Retry-After": "100"])
        life.daemon.deliver()
        life.drain()
        #expect(life.daemon.begun == 1)
        life.advance(99)
        #expect(life.daemon.begun == 1)
        life.advance(13)
        // An attempt that the server asked to postpone does not count.
        #expect(life.daemon.begun == 2 && life.attempts == [1])
        #expect(life.faults() == [])
    }

    @Test func lostUploadIsSentAgainAfterGraceOrAllEvents() {
        for isTold in [false, true] {
            let life = UploadLife()
            life.disk.cut(nil)
            life.launch()
            life.submit("a")
            life.kill()
            // A new daemon that knows no uploads.
            let files = life.disk
            let other = UploadLife()
            for name in files.names where !name.hasSuffix("lock") {
                if let bytes = files.bytes(of: name) { other.disk.put(bytes, at: name) }
            }
            other.launch()
            other.daemon.list()
            other.drain()
            #expect(other.daemon.begun == 0)
            if isTold { other.daemon.finishEvents() } else { other.timers.advance(by: UploadEngine.grace) }
            other.drain()
            #expect(other.daemon.begun == 1 && other.attempts == [2])
            #expect(other.faults() == [])
        }
    }

    @Test func lateEndOfUploadDoesNotEndAnother() throws {
        var state = BackgroundUploadState()
        let content = UploadRecord.Content(key: "a", digest: "1")
        let (first, second) = (UploadID(), UploadID())
        #expect(state.load(1, content, spare: first) == [.start(first)])
        #expect(state.letGo(1, stops: true) == [.complete(1, first, .failed(.cancelled)), .stop(first)])
        #expect(state.load(2, content, spare: second) == [.start(second)])
        #expect(state.ended(first, .failed(.cancelled)) == [.forget(first)])
        #expect(state.ended(first, .answered(.ok, [:])) == [])
        #expect(
            state.ended(second, .answered(.ok, [:])) == [
                .keep(second, .answered(.ok, [:])), .complete(2, second, .answered(.ok, [:])),
            ])
        #expect(state.ended(second, .failed(.cancelled)) == [])
        #expect(state.noteKept(second) == [.forget(second)])
    }

    // MARK: Without an outbox

    @Test func cancelStopsUploadUnlessAnotherTaskWaits() throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let (first, firstResults) = try #require(load(request("a"), life))
        let (second, _) = try #require(load(request("a"), life))
        #expect(life.daemon.begun == 1 && life.terminal?.engine.keys == ["a"])
        first.cancel()
        life.drain()
        #expect(firstResults.withLock { $0.first?.error?.code } == .cancelled)
        #expect(life.daemon.stopped == 0)
        second.cancel()
        life.drain()
        #expect(life.daemon.stopped == 1)
        life.daemon.deliver()
        #expect(life.uploadFiles == [] && life.terminal?.engine.keys == [])
        life.kill()
    }

    @Test func nextLoadAfterAnswerStartsNewUpload() throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let (_, results) = try #require(load(request("a"), life))
        life.daemon.arrive()
        life.daemon.answer(["X-A": "1"])
        life.daemon.deliver()
        #expect(results.withLock { $0.first?.response?.headers["X-A"] } == "1")
        #expect(life.uploadFiles == [])
        _ = load(request("a"), life)
        #expect(life.daemon.begun == 2)
        life.kill()
    }

    @Test func changedRequestReplacesRunningUpload() throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let (task, _) = try #require(load(request("a"), life))
        life.kill()
        withExtendedLifetime(task) {}
        life.launch(opensOutbox: false)
        life.daemon.list()
        life.drain()
        var changed = request("a")
        changed.path = "/v2/reports"
        let (_, results) = try #require(load(changed, life))
        #expect(life.daemon.stopped == 1 && life.daemon.begun == 2)
        life.daemon.deliver()
        #expect(results.withLock { $0.isEmpty })
        life.daemon.arrive()
        life.daemon.answer()
        life.daemon.deliver()
        life.drain()
        #expect(results.withLock { $0.first?.response?.status } == .ok)
        #expect(life.uploadFiles == [])
        life.kill()
    }

    @Test func resetStopsRunningUpload() throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let (_, results) = try #require(load(request("a"), life))
        let isDone = Locked(false)
        life.terminal?.engine.reset { isDone.withLock { $0 = true } }
        life.drain()
        #expect(life.daemon.stopped == 1)
        #expect(results.withLock { $0.first?.error?.code } == .cancelled)
        _ = load(request("a"), life)
        #expect(life.daemon.begun == 2)
        life.kill()
    }

    @Test func finishedEngineLetsRunningUploadsEnd() throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let (_, results) = try #require(load(request("a"), life))
        life.terminal?.engine.finish()
        #expect(life.daemon.finished == 1 && life.daemon.running == 1)
        life.daemon.arrive()
        life.daemon.answer()
        life.daemon.deliver()
        #expect(results.withLock { $0.first?.response?.status } == .ok)
        life.kill()
    }

    @Test func requestWithoutIdempotencyKeyIsRejected() throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let (_, results) = try #require(load(upload, life))
        let error = results.withLock { $0.first?.error }
        #expect(error?.code == .invalidRequest && error?.reason?.contains("Idempotency-Key") == true)
        #expect(life.uploadFiles == [])
        life.kill()
    }

    @Test func fullDiskFailsUploadAndLeavesNoFile() throws {
        for operation in 1...8 {
            let life = UploadLife()
            life.launch(opensOutbox: false)
            life.disk.cut(.failure(at: operation, code: 28))
            let (_, results) = try #require(load(request("a"), life))
            if let error = results.withLock({ $0.first?.error }) {
                #expect(error.underlyingError is FileFailure)
                #expect(life.daemon.begun == 0)
                #expect(life.uploadFiles == [])
            } else {
                #expect(life.daemon.begun == 1)
            }
            life.kill()
        }
    }

    @Test func secondEngineForDirectoryIsRejected() throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let files = try life.disk.folder("uploads")
        let error = #expect(throws: OutboxError.self) {
            _ = try UploadEngine(files: files, timers: life.timers, loader: "T") { life.daemon.connect($0) }
        }
        #expect(error?.code == .inUse)
        life.kill()
    }

    // MARK: The system's completion

    @MainActor
    @Test func eventsDeliveredHandlerRunsOnMainThreadAfterAllEvents() async throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        _ = load(request("a"), life)
        let log = EventLog()
        let engine = try #require(life.terminal?.engine)
        engine.whenEventsAreDelivered {
            MainActor.assertIsolated()
            log.note("told")
        }
        engine.drain()
        // Every completion that is due by now is queued on the main thread before this.
        await Task { @MainActor in }.value
        #expect(log.events == [])
        life.daemon.finishEvents()
        await log.waitForEvents(1)
        // Without running uploads, the completion is called immediately.
        life.daemon.arrive()
        life.daemon.answer()
        life.daemon.deliver()
        engine.whenEventsAreDelivered { log.note("told at once") }
        await log.waitForEvents(2)
        #expect(log.events == ["told", "told at once"])
        life.kill()
    }

    @Test @MainActor func waitForEventsEndsWithThemOrWithItsTask() async throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        _ = load(request("a"), life)
        let engine = try #require(life.terminal?.engine)
        let log = EventLog()
        let waits = ["first", "second"].map { name in
            Task {
                await engine.waitForEvents()
                log.note(name)
            }
        }
        waits[0].cancel()
        await log.waitForEvents(1)
        #expect(log.events == ["first"])
        life.daemon.finishEvents()
        await log.waitForEvents(2)
        #expect(log.events == ["first", "second"])
        life.kill()
    }

    @Test @MainActor func cancelledWaitTakesNoOtherHandlersPlace() async throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        _ = load(request("a"), life)
        let engine = try #require(life.terminal?.engine)
        let wait = Task { await engine.waitForEvents() }
        wait.cancel()
        await wait.value
        life.daemon.finishEvents()
        engine.drain()
        await Task { @MainActor in }.value
        let log = EventLog()
        engine.whenEventsAreDelivered { log.note("told") }
        #expect(log.events == ["told"])
        life.kill()
    }

    /// The system may deliver its events before the app has the handler, and other uploads may have begun meanwhile.
    @Test @MainActor func handlerThatComesAfterEventsRunsAtOnce() async throws {
        let life = UploadLife()
        life.launch(opensOutbox: false)
        let engine = try #require(life.terminal?.engine)
        life.daemon.finishEvents()
        engine.drain()
        await Task { @MainActor in }.value
        _ = load(request("a"), life)
        let log = EventLog()
        engine.whenEventsAreDelivered { log.note("told") }
        #expect(log.events == ["told"])
        // That is no reason to call the next one, nor are events of long ago.
        engine.whenEventsAreDelivered { log.note("second") }
        engine.drain()
        await Task { @MainActor in }.value
        #expect(log.events == ["told"])
        for _ in 0..<2 { life.daemon.finishEvents() }
        await log.waitForEvents(2)
        engine.drain()
        await Task { @MainActor in }.value
        life.timers.advance(by: .seconds(60))
        engine.whenEventsAreDelivered { log.note("third") }
        engine.drain()
        await Task { @MainActor in }.value
        #expect(log.events == ["told", "second"])
        life.kill()
    }
}
