import Foundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
    private let timers = ManualTimers()
    private let server = EventServer()
    private let changes = EventLog()

    private func stream(_ change: (inout EventStream.Settings) -> Void = { _ in }) -> EventStream {
        var settings = EventStream.Settings()
        settings.idleTime = nil
        settings.onChange = { [changes] in changes.note("\($0)") }
        change(&settings)
        return EventStream(.sample, chain: server, settings: settings, timers: timers, random: RandomSource(seed: 1))
    }

    /// Lets the stream wait to its end, and returns for how long.
    private func passDelay() async -> Duration {
        await timers.waitForPending(count: 1)
        let before = timers.now
        timers.advanceToNext()
        return before.duration(to: timers.now)
    }

    @Test func requestAcceptsEventsAndReconnectionSendsLastID() async throws {
        server.respond("id:7\ndata:a\n\n")
        server.respond("data:b\n\n")
        let stream = stream()
        var events = stream.makeAsyncIterator()
        #expect(server.requests.isEmpty)
        #expect(try await events.next() == ServerSentEvent(data: "a", id: "7"))
        #expect(stream.lastEventID == "7")
        let next = Task { [events] in
            var events = events
            return try await events.next()
        }
        let delay = await passDelay()
        #expect((.seconds(3)...(.seconds(4))).contains(delay))
        #expect(try await next.value == ServerSentEvent(data: "b", id: "7"))
        let (first, second) = (server.requests[0], server.requests[1])
        #expect(first.headers["Accept"] == "text/event-stream")
        #expect(first.headers["Cache-Control"] == "no-store")
        #expect(first.headers["Accept-Encoding"] == "identity")
        #expect(first.headers["Last-Event-ID"] == nil)
        #expect(second.headers["Last-Event-ID"] == "7")
        if case .chunks = first.delivery {} else { Issue.record("\(first.delivery)") }
        #expect(changes.events == ["open", "waiting", "connecting", "open"])
    }

    /// The idle time, the request's own timeout, and the timeout that it is sent with.
    static let silences: [(Duration?, Duration?, Duration)] = [
        (.seconds(90), nil, .seconds(90)), (nil, nil, .nanoseconds(Int64.max)), (nil, .seconds(5), .seconds(5)),
        (.seconds(90), .seconds(5), .seconds(5)),
    ]

    @Test(arguments: silences)
    func requestTimeoutDefaultsToIdleTime(_ idleTime: Duration?, _ own: Duration?, _ sent: Duration) async throws {
        server.respond("data:a\n\n")
        var settings = EventStream.Settings()
        settings.idleTime = idleTime
        var request = HTTPRequest.sample
        request.timeout = own
        var events = EventStream(request, chain: server, settings: settings, timers: timers).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        #expect(server.requests[0].timeout == sent)
    }

    @Test func invalidEventIDIsNotSent() async throws {
        server.respond("id:a\u{1}b\ndata:a\n\n")
        server.respond("data:b\n\n")
        let stream = stream()
        let events = Task { try await stream.prefix(2).collected() }
        _ = await passDelay()
        #expect(try await events.value.map(\.data) == ["a", "b"])
        #expect(stream.lastEventID == "a\u{1}b")
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil])
    }

    @Test func endCalledByObserverIsReportedLast() async throws {
        server.respond("data:a\n\n")
        let ending = Locked<EventStream?>(nil)
        let changes = changes
        let stream = stream {
            $0.onChange = { state in
                changes.note("\(state)")
                if state == .open { ending.withLock { $0 }?.end() }
            }
        }
        ending.withLock { $0 = stream }
        #expect(try await stream.collected() == [])
        #expect(changes.events == ["open", "ended"])
        ending.withLock { $0 = nil }
    }

    @Test func changeFromAnotherThreadIsReportedAfterTheCallThatIsUnderWay() async throws {
        server.respond("data:a\n\n")
        let ending = Locked<EventStream?>(nil)
        let changes = changes
        let stream = stream {
            $0.onChange = { state in
                changes.note("\(state) begins")
                // The other thread returns, and leaves its change to this one.
                if state == .open, let stream = ending.withLock({ $0 }) { try? onThreads(1) { _ in stream.end() } }
                changes.note("\(state) ends")
            }
        }
        ending.withLock { $0 = stream }
        #expect(try await stream.collected() == [])
        #expect(changes.events == ["open begins", "open ends", "ended begins", "ended ends"])
        ending.withLock { $0 = nil }
    }

    @Test func retainedErrorDoesNotRetainTransfer() async throws {
        let dropped = EventLog()
        server.hang(after: "no event", dropped: dropped, type: "text/plain")
        let error = await #expect(throws: HTTPError.self) { try await stream().collected() }
        #expect(error?.response?.status == .ok)
        await dropped.waitForEvents(1)
        #expect(dropped.events == ["dropped"])
    }

    @Test func endedStreamNamesTheLastEventThatTheReaderGot() async throws {
        server.respond("id:4\ndata:a\n\nid:5\ndata:b\n\n")
        let stream = stream()
        for try await event in stream {
            #expect(event.id == "4")
            stream.end()
        }
        #expect(stream.lastEventID == "4")
    }

    @Test func givenLastEventIDIsSentWithFirstRequest() async throws {
        server.respond("data:a\n\n")
        let stream = stream { $0.lastEventID = "41" }
        var events = stream.makeAsyncIterator()
        #expect(try await events.next() == ServerSentEvent(data: "a", id: "41"))
        #expect(server.requests[0].headers["Last-Event-ID"] == "41")
    }

    @Test func retryTimeOfServerIsUsedUpToMaximum() async throws {
        server.respond("retry:10000\ndata:a\n\n")
        server.respond("retry:99999999\n\n")
        server.respond("data:b\n\n")
        let events = Task { [stream = stream()] in try await stream.prefix(2).collected() }
        #expect((.seconds(10)...(.seconds(11))).contains(await passDelay()))
        #expect((.seconds(60)...(.seconds(62))).contains(await passDelay()))
        #expect(try await events.value.map(\.data) == ["a", "b"])
    }

    @Test(arguments: [HTTPError.Code.connectionLost, .cannotConnect, .timedOut])
    func transientErrorIsRetriedWithGrowingDelays(_ code: HTTPError.Code) async throws {
        for _ in 0..<12 { server.fail(code) }
        server.respond("data:a\n\n", error: HTTPError(code, request: .sample))
        server.respond("data:b\n\n")
        let events = Task { [stream = stream()] in try await stream.prefix(2).collected() }
        var longest = Duration.zero
        for failures in 1...12 {
            let delay = await passDelay()
            let bound = min(Duration.seconds(60), .seconds(1) * (1 << (failures - 1)))
            #expect((.seconds(3)...(.seconds(3) + bound)).contains(delay), "after \(failures) failures")
            longest = max(longest, delay)
        }
        #expect(longest > .seconds(20))
        // An event has arrived, so the delays are short again.
        #expect((.seconds(3)...(.seconds(4))).contains(await passDelay()))
        #expect(try await events.value.map(\.data) == ["a", "b"])
    }

    @Test func noContentEndsTheStream() async throws {
        server.respond("", status: .noContent, type: nil)
        let stream = stream()
        #expect(try await stream.collected() == [])
        #expect(stream.state == .ended)
        #expect(timers.pendingCount == 0)
        #expect(server.requests.count == 1)
    }

    static let unusable: [(HTTPStatus, String?)] = [
        (.created, "text/event-stream"), (.notFound, "text/event-stream"), (.serviceUnavailable, "text/event-stream"),
        (.ok, "text/plain"), (.ok, "text/event-streams"), (.ok, nil),
    ]

    @Test(arguments: unusable)
    func unusableResponseEndsStreamWithError(_ status: HTTPStatus, _ type: String?) async throws {
        server.respond("data:a\n\n", status: status, type: type)
        let stream = stream()
        let error = await #expect(throws: HTTPError.self) { try await stream.collected() }
        #expect(error?.code == .invalidResponse)
        #expect(error?.response?.status == status)
        #expect(stream.state == .ended)
        #expect(timers.pendingCount == 0)
    }

    @Test(arguments: ["text/event-stream; charset=latin1", "TEXT/Event-Stream", " text/event-stream ;x"])
    func parametersAndCaseOfContentTypeAreIgnored(_ type: String) async throws {
        server.respond("data:ä\n\n", type: type)
        var events = stream().makeAsyncIterator()
        #expect(try await events.next()?.data == "ä")
    }

    @Test(arguments: [HTTPError.Code.resetInProgress, .invalidRequest, .insecureConnection])
    func permanentErrorEndsStream(_ code: HTTPError.Code) async throws {
        server.fail(code)
        var events = stream().makeAsyncIterator()
        #expect(await #expect(throws: HTTPError.self) { try await events.next() }?.code == code)
        #expect(try await events.next() == nil)
    }

    @Test func eventOverLimitEndsStream() async throws {
        server.respond("data:0123456789\n\n")
        let stream = stream { $0.maximumEventBytes = 10 }
        #expect(await #expect(throws: HTTPError.self) { try await stream.collected() }?.code == .responseTooLarge)
    }

    @Test func silentTransferEndsAndStreamReconnects() async throws {
        let dropped = EventLog()
        server.hang(after: "data:a\n\n", dropped: dropped)
        server.respond("data:b\n\n")
        let events = Task { [stream = stream { $0.idleTime = .seconds(45) }] in try await stream.prefix(2).collected() }
        // The first piece may have come before or after the timer of the silence was looked at.
        while server.requests.count < 2 {
            if !timers.advanceToNext() { await Task.yield() }
        }
        #expect(try await events.value.map(\.data) == ["a", "b"])
        await dropped.waitForEvents(1)
        #expect(dropped.events == ["dropped"])
    }

    @Test func serverMayBeSilentForNinetySecondsByDefault() async throws {
        let dropped = EventLog()
        server.hang(after: "data:a\n\n", dropped: dropped)
        let stream = EventStream(.sample, chain: server, timers: timers, random: RandomSource(seed: 1))
        let heard = EventLog()
        let reading = Task {
            for try await event in stream { heard.note(event.data) }
        }
        await heard.waitForEvents(1)
        await timers.waitForPending(count: 1)
        #expect(timers.nextDeadline == timers.now.advanced(by: .seconds(90)))
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await dropped.waitForEvents(1)
        #expect(timers.pendingCount == 0)
    }

    @Test func headersOfRequestAreKept() async throws {
        server.respond("data:a\n\n")
        var request = HTTPRequest.sample
        request.headers["Accept"] = "text/event-stream, text/plain"
        request.headers["Cache-Control"] = "no-cache"
        request.delivery = .inMemory
        let stream = EventStream(request, chain: server, timers: timers, random: RandomSource(seed: 1))
        var events = stream.makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        let sent = server.requests[0]
        #expect(sent.headers["Accept"] == "text/event-stream, text/plain")
        #expect(sent.headers["Cache-Control"] == "no-cache")
        #expect(sent.delivery == .chunks)
    }

    @Test func cancellationThatNobodyAskedForIsLostConnection() async throws {
        server.respond("data:a\n\n", error: CancellationError())
        server.respond("data:b\n\n")
        // Without a delay, no timer has to be waited for.
        let stream = stream { $0.maximumDelay = .zero }
        #expect(try await stream.prefix(2).collected().map(\.data) == ["a", "b"])
        #expect(server.requests.count == 2)
    }

    /// As after a sign-out: nothing more is asked in the name of the user who has left.
    @Test func resetOfTransferEndsStream() async throws {
        server.respond("data:a\n\n", error: HTTPError(.cancelled, request: .sample))
        server.respond("data:b\n\n")
        let stream = stream()
        var events = stream.makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        #expect(await #expect(throws: HTTPError.self) { try await events.next() }?.code == .cancelled)
        #expect(try await events.next() == nil)
        #expect(stream.state == .ended && server.requests.count == 1 && timers.pendingCount == 0)
        #expect(changes.events == ["open", "ended"])
    }

    @Test func endWhileReadingEndsLoopAndTransfer() async throws {
        let dropped = EventLog()
        server.hang(after: "data:a\n\n", dropped: dropped)
        let stream = stream()
        let heard = EventLog()
        let reading = Task {
            for try await event in stream { heard.note(event.data) }
        }
        await heard.waitForEvents(1)
        stream.end()
        stream.end()
        try await reading.value
        await dropped.waitForEvents(1)
        #expect(dropped.events == ["dropped"])
        #expect(stream.state == .ended)
        #expect(changes.events == ["open", "ended"])
    }

    @Test func endWhileWaitingLeavesNoTimer() async throws {
        server.fail(.connectionLost)
        let stream = stream()
        let reading = Task { try await stream.collected() }
        await timers.waitForPending(count: 1)
        stream.end()
        #expect(try await reading.value == [])
        #expect(timers.pendingCount == 0)
    }

    @Test func endBeforeFirstEventSendsNoRequest() async throws {
        let stream = stream()
        stream.end()
        #expect(try await stream.collected() == [])
        #expect(server.requests.isEmpty)
    }

    @Test func cancelledReaderThrowsAndTransferEnds() async throws {
        let dropped = EventLog()
        server.hang(after: "data:a\n\n", dropped: dropped)
        let stream = stream()
        let heard = EventLog()
        let reading = Task {
            for try await event in stream { heard.note(event.data) }
        }
        await heard.waitForEvents(1)
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await dropped.waitForEvents(1)
        #expect(dropped.events == ["dropped"])
        #expect(stream.state == .ended)
    }

    @Test func extremeSettingsGiveValidDelays() {
        var settings = EventStream.Settings()
        settings.reconnectionTime = .seconds(-1)
        settings.maximumDelay = .seconds(Int64.max)
        var reconnection = Reconnection(settings)
        for _ in 0..<200 { #expect(reconnection.delay(roll: 0.999) >= .zero) }
        reconnection.noteTime(.seconds(Int64.max))
        #expect(reconnection.delay(roll: 0.5) < .seconds(1 << 34))
        settings.maximumDelay = .zero
        reconnection = Reconnection(settings)
        reconnection.noteTime(.seconds(5))
        #expect(reconnection.delay(roll: 0.5) == .zero)
    }
}

/// A terminal with a list of responses.
private final class EventServer: AsyncLoader, @unchecked Sendable {
    private let state = Locked((responses: [Result<HTTPResponse, HTTPError>](), requests: [HTTPRequest]()))

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func respond(
        _ text: String, status: HTTPStatus = .ok, type: String? = "text/event-stream",
        error: (any Error & Sendable)? = nil
    ) {
        let response = Deliveries.response([Array(text.utf8)], status: status, type: type, error: error)
        state.withLock { $0.responses.append(.success(response)) }
    }

    func fail(_ code: HTTPError.Code) {
        state.withLock { $0.responses.append(.failure(HTTPError(code, request: .sample))) }
    }

    /// Sends a text and then nothing, until the transfer ends.
    func hang(after text: String, dropped: EventLog, type: String = "text/event-stream") {
        var response = Deliveries.response([], type: type)
        let rest = Locked([Data(text.utf8)])
        response.chunks = ResponseChunks(
            next: {
                if let piece = rest.withLock({ $0.popLast() }) { return piece }
                try await ManualTimers().sleep(for: .seconds(1))
                return nil
            }, onDrop: { dropped.note("dropped") })
        state.withLock { [response] in $0.responses.append(.success(response)) }
    }

    override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = state.withLock { state in
            state.requests.append(request)
            return state.responses.isEmpty ? nil : state.responses.removeFirst()
        }
        guard let response else { throw HTTPError(.unknown, request: request, reason: "no response is left") }
        return try response.get()
    }
}
