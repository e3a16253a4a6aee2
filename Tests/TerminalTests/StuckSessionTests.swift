#if os(Linux)
    import Dispatch
    import Foundation
    import FoundationNetworking
    import LoaderChain
    import LoaderChainTesting
    import TestSizes
    import Testing

    @testable import LoaderChainURLSession

    /// A session that is too busy to end a task, as with the body of a redirect, which it copies again for each piece.
    ///
    /// All sessions of a process share the queue that is blocked here. Other tests would wait for it, with all threads that Swift
    /// has for tasks, and no thread would be left to unblock it. So these tests run in a separate process.
    @Suite(
        .serialized, .timeLimit(.minutes(10)),
        .enabled(
            if: ProcessInfo.processInfo.environment["STUCK_SESSIONS"] != nil,
            "These tests hold up all sessions of the process: STUCK_SESSIONS=1 swift test --filter StuckSessionTests"))
    struct StuckSessionTests {
        /// Timers that block the next thread that reads the time.
        private final class HoldingTimers: Timers {
            let manual = ManualTimers()
            private let holds = Locked(false)
            private let arrival = DispatchSemaphore(value: 0)
            private let opening = DispatchSemaphore(value: 0)

            var now: TimerInstant {
                if holds.withLock({ replace(&$0, with: false) }) {
                    arrival.signal()
                    opening.wait()
                }
                return manual.now
            }
            var date: Date { manual.date }

            func schedule(
                at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void
            ) -> any ScheduledTimer { manual.schedule(at: deadline, action) }

            func hold() { holds.withLock { $0 = true } }

            func waitForThread() async {
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { [arrival] in
                        arrival.wait()
                        continuation.resume()
                    }
                }
            }

            func open() { opening.signal() }
        }

        @Test(arguments: [true, false])
        func taskEndsWhileSessionIsBlocked(_ isTimeout: Bool) async throws {
            let timers = HoldingTimers()
            let site = try Site(timers: timers)
            site.server.route("/held") { _ in .ok("hello").held() }
            site.server.route("/") { _ in .ok() }
            let progress = Locked(0)
            let task = HTTPTask(
                request: site.request("/held") { $0.onProgress = { _ in progress.withLock { $0 += 1 } } })
            let (results, continuation) = AsyncStream.makeStream(of: HTTPResult.self)
            task.addCompletionHandler { continuation.yield($0) }
            site.loader.load(task: task)
            try await site.server.waitForHeld(count: 1)
            // The next thread is the session's, which has the head.
            timers.hold()
            site.server.release()
            await timers.waitForThread()
            if isTimeout { timers.manual.advance(by: .seconds(3600)) } else { task.cancel() }
            timers.manual.advance(by: .seconds(1))
            let result = await results.first { _ in true }
            #expect(result?.error?.code == (isTimeout ? .timedOut : .cancelled))
            try await site.loader.waitUntilIdle()

            // Other requests wait for the session, but not their callers, and time out; a reset does not wait.
            async let other = site.failure("/") { $0.timeout = .seconds(5) }
            try await eventually("it is in flight") { site.loader.details == "in flight 1" }
            let end = timers.manual.now.advanced(by: .seconds(5))
            try await eventually("its time is watched") { timers.manual.nextDeadline == end }
            timers.manual.advance(by: .seconds(5))
            #expect(await other?.code == .timedOut)
            await site.loader.reset()
            let reports = progress.withLock { $0 }
            timers.open()
            #expect(try await site.load("/").status == .ok)
            #expect(progress.withLock { $0 } == reports)
        }

        @Test func redirectWithLargeBodyEndsAtTimeout() async throws {
            let isOver = Locked(false)
            let server = try LoopbackServer { client in
                guard client.readHead() != nil else { return }
                client.send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: \(1 << 30)\r\n\r\n")
                let piece = [UInt8](repeating: 120, count: 1 << 16)
                while !isOver.withLock({ $0 }), client.send(piece) {}
            }
            let loader = URLSessionLoader(configuration: .patient)
            var request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/a")
            request.timeout = .milliseconds(500)
            let error = await loader.failure(request)
            // Until then the session does nothing else.
            isOver.withLock { $0 = true }
            #expect(error?.code == .timedOut)
            try await loader.waitUntilIdle()
        }

        @Test func cancelledRequestWaitingForSessionMakesNoSessionTask() async throws {
            let site = try Site()
            let loader = try #require(site.loader as? URLSessionLoader)
            let session = try #require(loader.owner.transport as? SessionTransport).session
            let url = site.request("/").url!
            let first = session.session.dataTask(with: URLRequest(url: url)).taskIdentifier
            let gate = DispatchSemaphore(value: 0)
            session.prepare { gate.wait() }
            let task = HTTPTask(request: site.request("/"))
            site.loader.load(task: task)
            task.cancel()
            gate.signal()
            await withCheckedContinuation { continuation in session.prepare { continuation.resume() } }
            #expect(session.session.dataTask(with: URLRequest(url: url)).taskIdentifier == first + 1)
            try await site.loader.waitUntilIdle()
        }
    }
#endif
