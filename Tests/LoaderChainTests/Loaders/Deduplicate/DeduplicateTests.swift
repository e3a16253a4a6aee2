import LoaderChainPlatformFoundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct DeduplicateTests {
    private let terminal = ScriptedTerminal(onCancel: .waits)
    private let log = EventLog()
    private let chain: HTTPLoader

    init() {
        chain = Deduplicate() --> terminal
    }

    @Test func identicalRequestsShareOneExecution() {
        let tasks = (1...3).map { load("follower \($0)") }
        #expect(terminal.held.count == 1)
        #expect(!tasks.contains { $0.id == terminal.held[0].id })
        #expect("\(chain)".hasPrefix("Deduplicate(executions 1, for 3 tasks)"))
        terminal.answer(terminal.held[0])
        #expect(log.events == ["follower 1: response", "follower 2: response", "follower 3: response"])
        load("newcomer")
        #expect(terminal.held.count == 1)
        #expect(terminal.requests.count == 2)
        terminal.answerAll()
    }

    @Test func differentOrUnsafeRequestsDoNotShare() {
        load("a")
        load("b", HTTPRequest(method: .head, host: "example.com", path: "/v1/users"))
        load("c", HTTPRequest(host: "example.com", path: "/v1/groups"))
        load("d", HTTPRequest(host: "example.com", path: "/v1/users", headers: ["Accept-Language": "de"]))
        load("e", HTTPRequest(host: "example.com", path: "/v1/users", body: DataBody(Data([1]))))
        for _ in 0..<2 { load("f", HTTPRequest(method: .post, host: "example.com", path: "/v1/users")) }
        #expect(terminal.held.count == 7)
        load("a", HTTPRequest(host: "example.com", path: "/v1/users", headers: ["TraceParent": "1"]))
        #expect(terminal.held.count == 7)
        terminal.answerAll()
    }

    @Test(arguments: ["traceparent", "tracestate", "b3", "X-Request-ID", "x-correlation-id", "X-Trace-ID"])
    func headersThatNumberOrTraceRequestsAreIgnored(_ name: String) {
        for value in ["1", "2"] {
            load(value, HTTPRequest(host: "example.com", path: "/v1/users", headers: [name: value]))
        }
        #expect(terminal.held.count == 1)
        terminal.answerAll()
    }

    /// A log of the responses then has the number that the server has seen.
    @Test func responseHasRequestOfFirstFollower() {
        let seen = Locked<[String?]>([])
        for number in 1...2 {
            let headers: HTTPHeaders = ["X-Request-ID": "\(number)"]
            let request = HTTPRequest(host: "example.com", path: "/v1/users", headers: headers)
            chain.load(request: request) { result in
                seen.withLock { $0.append(result.request.headers["X-Request-ID"]) }
            }
        }
        terminal.answerAll()
        #expect(terminal.requests.count == 1 && seen.withLock { $0 } == ["1", "1"])
    }

    @Test func requestsWithEffectsDoNotShare() {
        var ticket = HTTPRequest.sample
        ticket.isRepeatable = false
        for name in ["a", "b"] { load(name, ticket) }
        #expect(terminal.held.count == 2)
        terminal.answerAll()
    }

    @Test func requestsWithDifferentChecksDoNotShare() {
        var strict = HTTPRequest.sample
        strict.responseCheck = .success
        load("lenient")
        load("strict", strict)
        load("strict, too", strict)
        #expect(terminal.held.count == 2)
        terminal.answerAll()
        #expect(key(.sample, decoding: [Int].self) == key(.sample, decoding: [Int].self))
        #expect(key(.sample, decoding: [Int].self) != key(.sample, decoding: [String].self))
        #expect(key(.sample, decoding: [Int].self) != Deduplicate.Key.standard(for: .sample))
    }

    @Test func fileAndChunkDeliveriesAreNotShared() {
        for name in ["a", "b"] {
            var request = HTTPRequest.sample
            request.delivery = .file(URL(filePath: "/tmp/\(name)"))
            load(name, request)
            request.delivery = .chunks
            request.deduplication = .shared(as: Deduplicate.Key("users"))
            load("\(name) in chunks", request)
        }
        load("in memory")
        #expect(terminal.held.count == 5)
        terminal.answerAll()
    }

    /// One of them would never learn of its progress.
    @Test func requestsWithProgressDoNotShare() {
        for name in ["a", "b"] {
            var request = HTTPRequest.sample
            request.onProgress = { _ in }
            load(name, request)
        }
        #expect(terminal.held.count == 2)
        terminal.answerAll()
    }

    @Test func requestsOfDifferentUsersDoNotShare() {
        for user in ["zoe", "ada", "zoe"] {
            var request = HTTPRequest.sample
            request.basicCredentials = BasicCredentials(user: user, password: "secret")
            load(user, request)
        }
        load("nobody")
        #expect(terminal.held.count == 3)
        terminal.answerAll()
    }

    /// Options that change what a request gets.
    static let terms: [@Sendable (inout HTTPRequest) -> Void] = [
        { $0.redirects = .refuse }, { $0.redirects = .follow(upTo: 1) }, { $0.delivery = .inMemory(upTo: 1) },
        { $0.networkAccess = [] },
    ]

    @Test(arguments: terms)
    func requestsOnOtherTermsDoNotShare(_ change: @Sendable (inout HTTPRequest) -> Void) {
        var other = HTTPRequest.sample
        change(&other)
        load("a")
        load("b", other)
        #expect(terminal.held.count == 2)
        terminal.answerAll()
    }

    @Test func executionHasNoDeadline() throws {
        var request = HTTPRequest.sample
        request.deadline = .after(.seconds(10))
        load("a", request)
        #expect(!terminal.held[0].hasDeadline)
        terminal.answerAll()
    }

    @Test func requestOptionOverridesDefault() {
        var alone = HTTPRequest.sample
        alone.deduplication = .never
        var together = HTTPRequest(method: .post, host: "example.com", path: "/search")
        together.deduplication = .shared(as: Deduplicate.Key("search"))
        for _ in 0..<2 {
            load("alone", alone)
            load("together", together)
        }
        #expect(terminal.held.map(\.request.path) == ["/v1/users", "/search", "/v1/users"])
        terminal.answerAll()
    }

    @Test func closureProvidesTheKey() {
        let chain = Deduplicate { $0.path == "/alone" ? nil : Deduplicate.Key("all") } --> terminal
        for path in ["/a", "/b", "/alone", "/alone"] {
            chain.load(request: HTTPRequest(host: "example.com", path: path)) { _ in }
        }
        #expect(terminal.held.map(\.request.path) == ["/a", "/alone", "/alone"])
        terminal.answerAll()
    }

    @Test func cancelledFollowerDoesNotAffectOthers() {
        let tasks = (1...3).map { load("follower \($0)") }
        tasks[0].cancel()
        #expect(log.events == ["follower 1: cancelled"])
        let execution = terminal.held[0]
        #expect(!execution.isCancelled)
        terminal.answer(execution)
        #expect(log.events.dropFirst() == ["follower 2: response", "follower 3: response"])
    }

    @Test func executionWithoutFollowersIsCancelledAndReplaced() {
        let tasks = (1...2).map { load("follower \($0)") }
        let first = terminal.held[0]
        for task in tasks { task.cancel() }
        #expect(first.isCancelled)
        #expect(log.events == ["follower 1: cancelled", "follower 2: cancelled"])
        load("newcomer")
        #expect(terminal.held.count == 2)
        terminal.answer(first)
        #expect(log.events.count == 2)
        load("second newcomer")
        terminal.answer(terminal.held[0])
        #expect(log.events.dropFirst(2) == ["newcomer: response", "second newcomer: response"])
    }

    @Test func followersFailAtTheirDeadlinesAndLastCancelsExecution() {
        let timers = ManualTimers()
        for seconds in [1, 3, 2] {
            var request = HTTPRequest.sample
            request.deadline = .after(.seconds(seconds), on: timers)
            load("\(seconds)", request)
        }
        #expect(terminal.held.count == 1 && terminal.held[0].request.deadline == nil)
        timers.advance(by: .seconds(1))
        timers.advance(by: .seconds(1))
        #expect(log.events == ["1: deadlineExceeded", "2: deadlineExceeded"])
        #expect(!terminal.held[0].isCancelled)
        timers.advance(by: .seconds(1))
        #expect(log.events.last == "3: deadlineExceeded" && terminal.held[0].isCancelled)
        terminal.answerAll()
        #expect(timers.pendingCount == 0)
    }

    @Test func abandonedExecutionEndsAllFollowers() {
        for number in 1...2 { load("follower \(number)") }
        terminal.forget(terminal.held[0])
        #expect(log.events == ["follower 1: abandoned", "follower 2: abandoned"])
        #expect("\(chain)".hasPrefix("Deduplicate(executions 0, for 0 tasks)"))
    }

    @Test func resetFailsFollowersAndWaitsForExecutions() async {
        let cancelled = load("cancelled")
        cancelled.cancel()
        load("follower")
        let executions = terminal.held
        #expect(executions.count == 2)
        chain.reset { log.note("reset") }
        #expect(log.events == ["cancelled: cancelled", "follower: resetInProgress"])
        #expect(executions.map(\.isCancelled) == [true, true])
        terminal.answer(executions[0])
        #expect(log.events.count == 2)
        terminal.answer(executions[1])
        await log.waitForEvents(3)
        #expect(log.events.last == "reset")
    }

    @Test func immediateResponsesDoNotNestOnTheStack() {
        let chain = Deduplicate() --> ScriptedTerminal { _ in .success() }
        let again = Locked(10_000)
        @Sendable func loadAgain() {
            let left = again.withLock { left in
                left -= 1
                return left
            }
            if left > 0 { chain.load(request: .sample) { _ in loadAgain() } }
        }
        loadAgain()
        #expect(again.withLock { $0 } == 0)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func concurrentLoadsCancelsAndResetsCompleteEveryTask(seed: UInt64) async throws {
        let chain = Deduplicate() --> AsyncTerminal()
        let completed = EventLog()
        let resets = EventLog()
        try onThreads(4) { thread in
            var random = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
            for _ in 0..<500 {
                let path = "/\(random.next(upperBound: 3 as UInt64))"
                let task = chain.load(request: HTTPRequest(host: "example.com", path: path)) {
                    completed.note($0.summary)
                }
                if random.next(upperBound: 3 as UInt64) == 0 { task.cancel() }
                if random.next(upperBound: 50 as UInt64) == 0 { chain.reset { resets.note("reset") } }
            }
        }
        await completed.waitForEvents(2_000)
        await chain.reset()
        #expect(completed.events.count == 2_000, "seed \(seed)")
        #expect(Set(completed.events).isSubset(of: ["response", "cancelled", "resetInProgress"]), "seed \(seed)")
        // One that all have left may still be on its way: the reset may have joined one that began before it, and an execution
        // has ended a moment before it is removed.
        try await eventually("no execution is left, seed \(seed)") {
            "\(chain)".hasPrefix("Deduplicate(executions 0, for 0 tasks)")
        }
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient, mayLeaveCancelledTasks: true) { _ in Deduplicate() }
            .run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @discardableResult
    private func load(_ name: String, _ request: HTTPRequest = .sample) -> HTTPTask {
        chain.load(request: request) { [log] in log.note("\(name): \($0.summary)") }
    }

    private func key<Value: Decodable & Sendable>(
        _ request: HTTPRequest, decoding type: Value.Type
    ) -> Deduplicate.Key? {
        var request = request
        request.decodingCheck = .decoding(type)
        return Deduplicate.Key.standard(for: request)
    }
}

/// Answers on other threads.
private final class AsyncTerminal: AsyncLoader, @unchecked Sendable {
    override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        await Task.yield()
        return HTTPResponse(request: request, status: .ok)
    }
}
