import Dispatch
import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct MockLoaderTests {
    private let mock = MockLoader()
    private let log = EventLog()

    @Test func handlersAnswerInTheOrderAdded() {
        mock.then(.created, headers: ["A": "b"], body: "hello")
            .then { request, completion in
                completion(.success(HTTPResponse(request: request, status: .notFound)))
            }
            .then { task in task.fail(.connectionLost) }
            .then(failing: .timedOut)
            .then(204)
        for _ in 0..<6 {
            mock.load(request: .sample) { result in log.note(result.response.map { "\($0.status)" } ?? result.summary) }
        }
        #expect(
            log.events == [
                "201 Created", "404 Not Found", "connectionLost", "timedOut", "204 No Content", "cannotConnect",
            ])
    }

    @Test func usedHandlerIsReleased() {
        final class Captured: Sendable {}
        weak var captured: Captured?
        do {
            let object = Captured()
            captured = object
            mock.then { task in withExtendedLifetime(object) { _ = task.fail(.timedOut) } }.then(.ok)
        }
        mock.load(request: .sample) { log.note($0.summary) }
        #expect(captured == nil && log.events == ["timedOut"])
    }

    @Test func routeAnswersEveryMatchingRequestBeforeHandlers() async {
        mock.on(.get, "/v1/users", .created)
            .on(.get, "v1/users", .accepted)
            .on(.post, "/v1/users") { request in throw HTTPError(.connectionLost, request: request) }
            .then(failing: .timedOut)
        for method: HTTPMethod in [.get, .put, .get, .put] {
            let request = HTTPRequest(method: method, host: "test", path: "/v1/users")
            mock.load(request: request) { result in
                log.note(result.response.map { "\($0.status)" } ?? "\(result.error!)")
            }
        }
        #expect(log.events.prefix(3) == ["202 Accepted", log.events[1], "202 Accepted"])
        #expect(log.events[1].contains("timedOut") && log.events[3].contains("no response for PUT /v1/users"))
        mock.load(request: HTTPRequest(method: .post, host: "test", path: "/v1/users")) { log.note($0.summary) }
        await log.waitForEvents(5)
        #expect(log.events.last == "connectionLost")
        mock.on(.get, "/v1/users", failing: .cannotConnect)
        for _ in 1...2 {
            mock.load(request: HTTPRequest(host: "test", path: "/v1/users")) { log.note($0.summary) }
        }
        #expect(log.events.suffix(2) == ["cannotConnect", "cannotConnect"])
    }

    /// As that of a request.
    @Test func pathOfRouteIsEncoded() {
        mock.on(.get, "/wörter/a b", .accepted)
        mock.load(request: HTTPRequest(host: "test", path: "/wörter/a b")) { [log] in log.note($0.summary) }
        #expect(log.events == ["response"])
    }

    @Test func asyncHandlerAnswersOrThrows() async {
        struct Mishap: Error {}
        mock.thenAnswer { request in HTTPResponse(request: request, status: .accepted) }
            .thenAnswer { request in throw HTTPError(.insecureConnection, request: request) }
            .thenAnswer { _ in throw Mishap() }
        for number in 1...3 {
            mock.load(request: .sample) { log.note($0.summary) }
            await log.waitForEvents(number)
        }
        #expect(log.events == ["response", "insecureConnection", "unknown"])
    }

    @Test func cancelReachesAsyncHandler() async {
        let nothing = EventLog()
        mock.thenAnswer { [log] request in
            await withTaskCancellationHandler {
                log.note("begun")
                // Only the cancel ends this wait.
                await nothing.waitForEvents(1)
            } onCancel: {
                log.note("asked")
            }
            return HTTPResponse(request: request, status: .ok)
        }
        let task = mock.load(request: .sample) { [log] in log.note($0.summary) }
        await log.waitForEvents(1)
        task.cancel()
        await log.waitForEvents(3)
        #expect(Set(log.events) == ["begun", "asked", "cancelled"])
    }

    @Test func invalidRequestDoesNotConsumeHandler() {
        mock.then(.ok)
        mock.load(request: HTTPRequest(path: "/")) { [log] in log.note($0.summary) }
        mock.load(request: .sample) { [log] in log.note($0.summary) }
        #expect(log.events == ["invalidRequest", "response"])
    }

    @Test func taskDroppedByHandlerIsAbandoned() {
        mock.then { _, _ in }
        mock.load(request: .sample) { [log] in log.note($0.summary) }
        #expect(log.events == ["abandoned"])
    }

    @Test func resetCancelsUnansweredTask() async {
        let kept = Locked<HTTPTask?>(nil)
        mock.then { task in kept.withLock { $0 = task } }
        mock.load(request: .sample) { [log] in log.note($0.summary) }
        #expect("\(mock)" == "MockLoader(handlers 0, in flight 1)")
        await mock.reset()
        #expect(log.events == ["cancelled"])
        #expect("\(mock)" == "MockLoader(handlers 0, in flight 0)")
        #expect(kept.withLock { $0?.isCompleted } == true)
    }

    @Test func resetKeepsRoutesAndQueue() async {
        mock.on(.get, "/v1/users", .accepted).then(.created)
        await mock.reset()
        for method: HTTPMethod in [.get, .put] {
            mock.load(request: HTTPRequest(method: method, host: "test", path: "/v1/users")) { [log] result in
                log.note(result.response.map { "\($0.status)" } ?? result.summary)
            }
        }
        #expect(log.events == ["202 Accepted", "201 Created"])
    }

    @Test func handlersCanBeAddedAndUsedConcurrently() throws {
        try onThreads(4) { [mock, log] _ in
            for _ in 0..<250 {
                mock.then(.ok)
                mock.load(request: .sample) { log.note($0.summary) }
            }
        }
        #expect(log.events == Array(repeating: "response", count: 1_000))
    }

    @Test func keepsTheContractWithoutHandlers() async {
        let violations = await ContractCheck(patience: .patient) { _ in MockLoader() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func keepsTheContractWithHandlers() async {
        let violations = await ContractCheck(patience: .patient) { _ in
            let mock = MockLoader()
            // The longest part of the check loads five thousand tasks.
            for _ in 0..<5_001 { mock.then(.ok) }
            return mock
        }.run()
        // What becomes of a terminal's failure is no question for a loader that asks none.
        let relevant = violations.filter { !$0.hasPrefix("A terminal that ") }
        #expect(relevant.isEmpty, "\(relevant)")
    }
}
