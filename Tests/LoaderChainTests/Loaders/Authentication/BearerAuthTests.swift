import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) final class BearerAuthTests {
    private let source = ScriptedAnswers<BearerToken>()
    private let terminal = ScriptedTerminal()
    private let log = EventLog()

    deinit {
        source.end()
        terminal.end()
    }

    private func chain(
        hosts: AuthorizedHosts = ["example.com"],
        store: any CredentialStore<BearerToken> = MemoryCredentialStore<BearerToken>()
    ) -> HTTPLoader {
        BearerAuth(hosts: hosts, source: source, store: store, timers: ManualTimers()) --> terminal
    }

    /// A chain that holds the token `a`.
    private func authorizedChain() -> HTTPLoader { chain(store: .holding("a")) }

    @Test func waitingTasksShareOneTokenRequest() async {
        let chain = chain()
        for _ in 0..<100 { chain.load(request: .sample) { [log] in log.note($0.summary) } }
        let question = await source.question(1)
        #expect(question.old == nil)
        #expect(terminal.requests.isEmpty)
        #expect(chain.description.hasPrefix("BearerAuth(authorizing, waiting 100)"))
        question.answer(.success(BearerToken(accessToken: "a")))
        for _ in 0..<100 {
            let task = await terminal.next()
            #expect(task.request.headers["Authorization"] == "Bearer a")
            terminal.answer(task)
        }
        await log.waitForEvents(100)
        #expect(Set(log.events) == ["response"])
        chain.load(request: .sample) { [log] in log.note($0.summary) }
        #expect(terminal.held.count == 1)
        #expect(source.asked == 1)
    }

    @Test func waitingTasksAreSentInOrder() async {
        let chain = chain()
        for number in 0..<20 { chain.load(request: HTTPRequest(host: "example.com", path: "/\(number)")) { _ in } }
        await source.question(1).answer(.success(BearerToken(accessToken: "a")))
        for number in 0..<20 { #expect(await terminal.next().request.path == "/\(number)") }
    }

    /// What the source and the store do is done for all tasks that wait, and not only for the first.
    @Test func questionHasNeitherValuesNorPriorityOfFirstTask() async {
        let heard = EventLog()
        let note: @Sendable (String) -> Void = { name in
            heard.note("\(name), \(Caller.name)" + (Task.currentPriority == .low ? ", low" : ""))
        }
        let source = ClosureSource<BearerToken> { _, _ in
            note("source")
            return BearerToken(accessToken: "a")
        }
        let terminal = ScriptedTerminal { _ in .success() }
        let chain = BearerAuth(hosts: .all, source: source, store: CallingStore(note: note)) --> terminal
        @Sendable func load() {
            Caller.$name.withValue("first") {
                note("caller")
                chain.load(request: .sample) { _ in heard.note("loaded") }
            }
        }
        @Sendable func reset() {
            Caller.$name.withValue("second") {
                note("caller")
                chain.reset { heard.note("reset") }
            }
        }
        // Nobody awaits these, since that would raise their priority.
        Task(priority: .low) { load() }
        await heard.waitForEvents(5)
        Task(priority: .low) { reset() }
        await heard.waitForEvents(8)
        #expect(
            heard.events == [
                "caller, first, low", "load, nobody", "source, nobody", "save, nobody", "loaded",
                "caller, second, low", "forget, nobody", "reset",
            ])
    }

    @Test func requestWithOwnHeaderOrOtherHostIsUnchanged() async {
        let chain = authorizedChain()
        var own = HTTPRequest.sample
        own.headers["authorization"] = "Digest x"
        chain.load(request: own) { [log] in log.note($0.response.map { "\($0.status.rawValue)" } ?? "error") }
        let first = await terminal.next()
        #expect(first.request.headers["Authorization"] == "Digest x")
        terminal.answer(first, .unauthorized)
        chain.load(request: HTTPRequest(host: "elsewhere.com")) { _ in }
        #expect(await terminal.next().request.headers["Authorization"] == nil)
        #expect(log.events == ["401"])
        #expect(source.asked == 0)
    }

    @Test func tokenIsNotSentOverPlainHTTP() async {
        let plain = HTTPRequest(scheme: "http", host: "example.com")
        #expect(await authorizedChain().code(of: plain) == .insecureConnection)
        #expect(terminal.requests.isEmpty)
    }

    @Test func rejectedTokenIsReplacedAndTaskIsSentAgain() async throws {
        let chain = authorizedChain()
        async let response = chain.load(.sample)
        let first = await terminal.next()
        terminal.answer(first, .unauthorized, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
        let question = await source.question(1)
        #expect(question.old?.accessToken == "a")
        question.answer(.success(BearerToken(accessToken: "b")))
        let second = await terminal.next()
        #expect(second.id != first.id)
        #expect(second.request.headers.values(for: "Authorization") == ["Bearer b"])
        terminal.answer(second, .ok, body: "hello")
        #expect(try await response.body == Data("hello".utf8))
    }

    @Test func lateRejectionOfOldTokenDoesNotAskSource() async {
        let chain = authorizedChain()
        for _ in 0..<3 { chain.load(request: .sample) { [log] in log.note($0.summary) } }
        let tasks = [await terminal.next(), await terminal.next(), await terminal.next()]
        terminal.answer(tasks[0], .unauthorized)
        terminal.answer(tasks[1], .unauthorized)
        await source.question(1).answer(.success(BearerToken(accessToken: "b")))
        for _ in 0..<2 { terminal.answer(await terminal.next()) }
        terminal.answer(tasks[2], .unauthorized)
        let last = await terminal.next()
        #expect(last.request.headers["Authorization"] == "Bearer b")
        terminal.answer(last)
        await log.waitForEvents(3)
        #expect(source.asked == 1)
    }

    @Test func failedRefreshFailsAllWaitingTasks() async {
        struct Mishap: Error {}
        let chain = authorizedChain()
        let results = Locked<[HTTPResult]>([])
        for _ in 0..<2 {
            chain.load(request: .sample) { [log] result in
                results.withLock { $0.append(result) }
                log.note(result.summary)
            }
        }
        for task in [await terminal.next(), await terminal.next()] { terminal.answer(task, .unauthorized) }
        chain.load(request: .sample) { [log] in log.note($0.summary) }
        await source.question(1).answer(.failure(Mishap()))
        await log.waitForEvents(3)
        #expect(log.events == Array(repeating: "authenticationFailed", count: 3))
        for result in results.withLock({ $0 }) {
            #expect(result.response?.status == .unauthorized)
            #expect(result.error?.underlyingError is Mishap)
            #expect(result.error?.loader == "BearerAuth")
        }
        #expect(terminal.requests.count == 2)
        chain.load(request: .sample) { _ in }
        #expect(await source.question(2).old?.accessToken == "a")
    }

    @Test(arguments: [HTTPTaskEnd.atOnce, .later])
    func repeatedRejectionsStopAfterThreeAttempts(_ end: HTTPTaskEnd) async throws {
        let counter = Counter()
        let source = ClosureSource<BearerToken> { _, _ in BearerToken(accessToken: "\(counter.next())") }
        let terminal = ScriptedTerminal { _ in .success(.unauthorized) }
        let between = end == .atOnce ? HTTPLoader() : ClosureLoader { try await $1($0) }
        let chain = BearerAuth(hosts: .all, source: source) --> between --> terminal
        #expect(try await chain.load(.sample).status == .unauthorized)
        let sent = terminal.requests.map { $0.headers["Authorization"] }
        #expect(sent == ["Bearer 1", "Bearer 2", "Bearer 3"])
        // What every server rejects is not tried again either.
        #expect(try await chain.load(.sample).status == .unauthorized)
        #expect(terminal.requests.map { $0.headers["Authorization"] }.dropFirst(3).first == "Bearer 4")
        #expect(terminal.requests.count == 6)
    }

    enum HTTPTaskEnd { case atOnce, later }

    @Test func consumedBodyIsNotSentAgain() async throws {
        let chain = authorizedChain()
        let body = StreamBody(length: 1) { Data("a".utf8) }
        async let response = chain.load(HTTPRequest(method: .post, host: "example.com", body: body))
        terminal.answer(await terminal.next(), .unauthorized)
        #expect(try await response.status == .unauthorized)
        #expect(source.asked == 0)
        // The next one knows better than to try the same token.
        chain.load(request: .sample) { _ in }
        #expect(await source.question(1).old?.accessToken == "a")
    }

    @Test(arguments: [
        "Basic realm=\"x\"", "Bearer error=\"insufficient_scope\"",
        "Negotiate, Bearer realm=\"a\", error=invalid_request",
    ])
    func challengeThatNewTokenCannotMeetIsReturned(_ challenge: String) async throws {
        let chain = authorizedChain()
        async let response = chain.load(.sample)
        terminal.answer(await terminal.next(), .unauthorized, headers: ["WWW-Authenticate": challenge])
        #expect(try await response.status == .unauthorized)
        #expect(source.asked == 0)
    }

    @Test func errorWithUnauthorizedResponseCountsAsRejection() async throws {
        let refusing = ClosureLoader("refusing") { request, next in
            let response = try await next(request)
            guard response.status.isSuccess else {
                throw HTTPError(.invalidResponse, request: request, response: response)
            }
            return response
        }
        let terminal = ScriptedTerminal {
            .success($0.headers["Authorization"] == "Bearer b" ? .ok : .unauthorized)
        }
        let source = ClosureSource<BearerToken> { _, _ in BearerToken(accessToken: "b") }
        let chain = BearerAuth(hosts: .all, source: source, store: .holding("a")) --> refusing --> terminal
        #expect(try await chain.load(.sample).status == .ok)
    }

    @Test func cancelledWaiterLeavesWhileTokenRequestContinues() async {
        let chain = chain()
        let tasks = (0..<3).map { _ in chain.load(request: .sample) { [log] in log.note($0.summary) } }
        let question = await source.question(1)
        tasks[1].cancel()
        #expect(log.events == ["cancelled"])
        tasks[0].cancel()
        tasks[2].cancel()
        #expect(log.events == ["cancelled", "cancelled", "cancelled"])
        #expect(source.cancels.events.isEmpty)
        question.answer(.success(BearerToken(accessToken: "a")))
        chain.load(request: .sample) { _ in }
        #expect(await terminal.next().request.headers["Authorization"] == "Bearer a")
        #expect(source.asked == 1)
    }

    @Test func waiterFailsAtItsDeadlineWhileTokenRequestContinues() async {
        let chain = chain()
        let timers = ManualTimers()
        for time in [1, 2, nil] as [Int?] {
            var request = HTTPRequest.sample
            request.deadline = time.map { .after(.seconds($0), on: timers) }
            chain.load(request: request) { [log] result in
                log.note("\(time ?? 0) \(result.summary) \(result.error?.loader ?? "")")
            }
        }
        let question = await source.question(1)
        timers.advance(by: .seconds(1))
        #expect(log.events == ["1 deadlineExceeded BearerAuth"])
        #expect(source.cancels.events.isEmpty)
        question.answer(.success(BearerToken(accessToken: "a")))
        for _ in 0..<2 { #expect(await terminal.next().request.headers["Authorization"] == "Bearer a") }
        #expect(source.asked == 1)
        timers.advance(by: .seconds(1))
        #expect(log.events.last == "2 deadlineExceeded ScriptedTerminal")
        #expect(timers.pendingCount == 0)
    }

    @Test func taskReleasedBelowIsAbandoned() async {
        authorizedChain().load(request: .sample) { [log] in log.note($0.summary) }
        terminal.forget(await terminal.next())
        await log.waitForEvents(1)
        #expect(log.events == ["abandoned"])
    }

    @Test func requestFromSourceDoesNotWaitForToken() async throws {
        let source = ClosureSource<BearerToken> { _, chain in
            let response = try await chain?(HTTPRequest(method: .post, host: "example.com", path: "/token"))
            return BearerToken(accessToken: String(decoding: response?.body ?? Data(), as: UTF8.self))
        }
        let chain = BearerAuth(hosts: .all, source: source) --> terminal
        async let response = chain.load(.sample)
        let asking = await terminal.next()
        #expect(asking.request.path == "/token")
        #expect(asking.request.headers["Authorization"] == nil)
        terminal.answer(asking, .ok, body: "t")
        let task = await terminal.next()
        #expect(task.request.headers["Authorization"] == "Bearer t")
        terminal.answer(task)
        #expect(try await response.status == .ok)
    }

    @Test func tokenInvalidInHeaderIsRejected() async {
        let chain = chain()
        async let code = chain.code(of: .sample)
        await source.question(1).answer(.success(BearerToken(accessToken: "a\r\nX: y")))
        #expect(await code == .authenticationFailed)
    }

    @Test func concurrentTasksRequestOneTokenAtATime() async throws {
        let server = RevokingServer()
        let chain = BearerAuth(hosts: .all, source: server, timers: ManualTimers()) --> server.terminal
        try onThreads(4) { [log] thread in
            for number in 0..<250 {
                chain.load(request: .sample) { [log] in log.note($0.response.map { "\($0.status.rawValue)" } ?? "error")
                }
                if number % 50 == thread { server.revoke() }
            }
        }
        await log.waitForEvents(1000)
        #expect(server.mostAtOnce == 1)
        #expect(log.events.allSatisfy { $0 == "200" || $0 == "401" })
        // How many are out of luck depends on the machine; once no token is revoked any more, a request succeeds.
        #expect(try await chain.load(.sample).status == .ok)
    }

    /// The token of a user who has signed out does not come back through the store.
    @Test func lateTokenAfterTimedOutResetIsNotSaved() async throws {
        let timers = ManualTimers()
        let hung = Locked<CheckedContinuation<Void, Never>?>(nil)
        let asked = EventLog(), ended = EventLog(), saved = EventLog()
        var chain: HTTPLoader? =
            ResetGuard()
            --> BearerAuth(
                hosts: .all, source: slowSource(asked, hung, Witness(ended)), store: NotingStore(saved), timers: timers)
            --> ClosureLoader("server") { request, _ in HTTPResponse(request: request, status: .ok) }
        let log = EventLog()
        chain?.load(request: .sample) { log.note($0.summary) }
        await asked.waitForEvents(1)
        chain?.reset(within: .seconds(1), timers: timers) { _ in log.note("reset") }
        timers.advance(by: .seconds(1))
        await log.waitForEvents(2)
        chain = nil
        hung.withLock { replace(&$0, with: nil) }?.resume()
        // The question holds its source until it has ended.
        await ended.waitForEvents(1)
        #expect(saved.events == [])
    }

    @Test func tokenIsRequestedAgainAfterTimedOutReset() async throws {
        let timers = ManualTimers()
        let hung = Locked<[CheckedContinuation<Void, Never>]>([])
        let asked = EventLog()
        let source = ClosureSource<BearerToken> { _, _ in
            if !asked.events.isEmpty {
                asked.note("new")
                return BearerToken(accessToken: "new")
            }
            await withCheckedContinuation { continuation in
                hung.withLock { $0.append(continuation) }
                asked.note("old")
            }
            return BearerToken(accessToken: "old")
        }
        let server = ClosureLoader("server") { request, _ in
            let isNew = request.headers["Authorization"] == "Bearer new"
            return HTTPResponse(request: request, status: isNew ? .ok : .forbidden)
        }
        let chain = ResetGuard() --> BearerAuth(hosts: .all, source: source, timers: timers) --> server
        let log = EventLog()
        chain.load(request: .sample) { log.note($0.summary) }
        await asked.waitForEvents(1)
        chain.reset(within: .seconds(1), timers: timers) { _ in log.note("reset") }
        timers.advance(by: .seconds(1))
        await log.waitForEvents(2)
        #expect(try await chain.load(.sample).status == .ok)
        // The answer of the question that was given up comes late, and is not heard.
        for continuation in hung.withLock({ replace(&$0, with: []) }) { continuation.resume() }
        await chain.reset()
        #expect(try await chain.load(.sample).status == .ok)
        #expect(asked.events == ["old", "new", "new"])
    }

    @Test func tasksSucceedDespiteTwoRevocations() async throws {
        let server = RevokingServer()
        let chain = BearerAuth(hosts: .all, source: server, timers: ManualTimers()) --> server.terminal
        #expect(try await chain.load(.sample).status == .ok)
        try onThreads(4) { [log] thread in
            for number in 0..<250 {
                chain.load(request: .sample) { [log] in log.note($0.response.map { "\($0.status.rawValue)" } ?? "error")
                }
                // Two in all, on two threads: a task is sent again twice, so none may fail, on however slow a machine.
                if number == 100, thread < 2 { server.revoke() }
            }
        }
        await log.waitForEvents(1000)
        #expect(log.events.allSatisfy { $0 == "200" })
        #expect(server.mostAtOnce == 1)
    }
}

extension CredentialStore where Self == MemoryCredentialStore<BearerToken> {
    /// A store that holds a token without a known end.
    static func holding(_ accessToken: String) -> Self {
        MemoryCredentialStore(BearerToken(accessToken: accessToken, refreshToken: "r"))
    }
}

/// A server that gives out tokens, takes the newest alone, and revokes it now and then.
private final class RevokingServer: TokenSource {
    private struct State {
        var token = 0
        var asking = 0
        var mostAtOnce = 0
    }
    private let state = Locked(State())

    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func revoke() { state.withLock { $0.token += 1 } }

    var terminal: HTTPLoader {
        ClosureLoader("server") { [self] request, _ in
            let valid = state.withLock { "Bearer \($0.token)" }
            let isValid = request.headers["Authorization"] == valid
            return HTTPResponse(request: request, status: isValid ? .ok : .unauthorized)
        }
    }

    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        state.withLock {
            $0.asking += 1
            $0.mostAtOnce = max($0.mostAtOnce, $0.asking)
        }
        await Task.yield()
        return state.withLock {
            $0.asking -= 1
            return BearerToken(accessToken: "\($0.token)")
        }
    }
}

/// A source whose token comes late, and which holds a witness until it is gone.
private func slowSource(
    _ asked: EventLog, _ hung: Locked<CheckedContinuation<Void, Never>?>, _ witness: Witness
) -> ClosureSource<BearerToken> {
    ClosureSource { _, _ in
        await withCheckedContinuation { continuation in
            hung.withLock { $0 = continuation }
            asked.note("old")
        }
        return withExtendedLifetime(witness) { BearerToken(accessToken: "old") }
    }
}

/// Notes when nothing holds it any more.
private final class Witness: Sendable {
    private let log: EventLog

    init(_ log: EventLog) { self.log = log }

    deinit { log.note("gone") }
}

/// Keeps nothing, and notes what it should save.
private struct NotingStore: CredentialStore {
    private let log: EventLog

    init(_ log: EventLog) { self.log = log }

    func load() -> BearerToken? { nil }
    func save(_ credential: BearerToken) { log.note(credential.accessToken) }
    func forget() {}
}

private enum Caller {
    @TaskLocal static var name = "nobody"
}

/// Keeps nothing, and tells each call.
private struct CallingStore: CredentialStore {
    let note: @Sendable (String) -> Void

    func load() -> BearerToken? {
        note("load")
        return nil
    }

    func save(_ credential: BearerToken) { note("save") }
    func forget() { note("forget") }
}
