import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) final class BasicAuthTests {
    private let provider = ScriptedAnswers<BasicCredentials>()
    private let terminal = ScriptedTerminal()
    private let log = EventLog()
    private let aladdin = BasicCredentials(user: "Aladdin", password: "open sesame")

    deinit {
        provider.end()
        terminal.end()
    }

    private func chain(
        store: any CredentialStore<BasicCredentials> = MemoryCredentialStore<BasicCredentials>()
    ) -> HTTPLoader {
        BasicAuth(hosts: ["example.com"], store: store, provider: provider) --> terminal
    }

    @Test func headerValueFollowsTheStandard() throws {
        #expect(try aladdin.headerValue() == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try BasicCredentials(user: "test", password: "123£").headerValue() == "Basic dGVzdDoxMjPCow==")
        #expect(try BasicCredentials(user: "", password: "a:b").headerValue() == "Basic OmE6Yg==")
    }

    @Test(arguments: [("a:b", ""), ("a\n", ""), ("a", "b\u{0}"), ("a", "\u{85}"), ("a\u{7F}", "b")])
    func credentialsInvalidInHeaderAreRejected(_ user: String, _ password: String) async {
        var request = HTTPRequest.sample
        request.basicCredentials = BasicCredentials(user: user, password: password)
        #expect(await (BasicAuth() --> terminal).code(of: request) == .invalidRequest)
        let chain = chain()
        async let code = chain.code(of: .sample)
        await provider.question(1).answer(.success(BasicCredentials(user: user, password: password)))
        #expect(await code == .invalidRequest)
        #expect(terminal.requests.isEmpty)
    }

    @Test func requestCredentialsAndHeaderTakePrecedence() async {
        let chain = chain()
        var request = HTTPRequest(host: "elsewhere.com")
        #expect(request.basicCredentials == nil)
        request.basicCredentials = aladdin
        chain.load(request: request) { [log] in log.note($0.response.map { "\($0.status.rawValue)" } ?? "error") }
        let task = await terminal.next()
        #expect(task.request.headers["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        terminal.answer(task, .unauthorized)
        #expect(log.events == ["401"])
        request.headers["Authorization"] = "Digest x"
        chain.load(request: request) { _ in }
        #expect(await terminal.next().request.headers.values(for: "Authorization") == ["Digest x"])
        request.headers["Authorization"] = nil
        request.scheme = "http"
        #expect(await chain.code(of: request) == .insecureConnection)
        #expect(provider.asked == 0)
    }

    @Test func requestPassesUnchangedWithoutCredentials() async {
        for auth in [BasicAuth(), BasicAuth(hosts: .all), BasicAuth(hosts: ["other.com"], provider: provider)] {
            let terminal = ScriptedTerminal { _ in .success(.unauthorized) }
            let chain = auth --> terminal
            #expect(await chain.code(of: .sample) == nil)
            #expect(terminal.requests.map { $0.headers["Authorization"] } == [nil])
        }
    }

    @Test func waitingTasksShareOneProviderCall() async {
        let chain = chain()
        for _ in 0..<50 { chain.load(request: .sample) { [log] in log.note($0.summary) } }
        let question = await provider.question(1)
        #expect(question.old == nil)
        #expect(terminal.requests.isEmpty)
        question.answer(.success(aladdin))
        for _ in 0..<50 { terminal.answer(await terminal.next()) }
        await log.waitForEvents(50)
        #expect(Set(log.events) == ["response"])
        #expect(provider.asked == 1)
    }

    @Test func nilFromProviderFailsWaitingTask() async {
        let chain = chain()
        for number in 1...2 {
            async let code = chain.code(of: .sample)
            await provider.question(number).answer(.success(nil))
            #expect(await code == .authenticationRequired)
        }
        #expect(terminal.requests.isEmpty)
    }

    @Test func rejectionForgetsCredentialsAndAsksOncePerTask() async throws {
        let store = FaultyStore(aladdin)
        let chain = chain(store: store)
        async let response = chain.load(.sample)
        terminal.answer(await terminal.next(), .unauthorized, headers: ["WWW-Authenticate": "Basic realm=\"cave\""])
        let question = await provider.question(1)
        #expect(question.old == aladdin)
        #expect(store.log.events == ["load", "forget"])
        question.answer(.success(BasicCredentials(user: "Kassim", password: "?")))
        terminal.answer(await terminal.next(), .unauthorized)
        #expect(try await response.status == .unauthorized)
        #expect(provider.asked == 1)
        #expect(terminal.requests.count == 2)
        // The next task does not try the wrong ones again.
        chain.load(request: .sample) { _ in }
        #expect(await provider.question(2).old?.user == "Kassim")
    }

    @Test func unauthorizedResponseIsReturnedWithoutProvider() async throws {
        let store = FaultyStore(aladdin)
        let chain = BasicAuth(hosts: .all, store: store) --> terminal
        async let response = chain.load(.sample)
        terminal.answer(await terminal.next(), .unauthorized)
        #expect(try await response.status == .unauthorized)
        #expect(try await store.load() == nil)
    }

    /// A redirect to another server takes no credentials along.
    @Test func rejectionByServerThatGotNoCredentialsForgetsNothing() async throws {
        let store = FaultyStore(aladdin)
        let server = ClosureLoader("redirects") { request, _ in
            var last = request
            last.host = "files.other"
            last.headers.remove("Authorization")
            return HTTPResponse(request: last, status: .unauthorized)
        }
        let chain = BasicAuth(hosts: .all, store: store, provider: provider) --> server
        #expect(try await chain.load(.sample).status == .unauthorized)
        #expect(store.log.events == ["load"] && provider.asked == 0)
    }

    @Test func storeFailingToForgetFailsTaskWithItsResponse() async {
        let chain = chain(store: FaultyStore(aladdin, failing: ["forget"]))
        let results = Locked<[HTTPResult]>([])
        chain.load(request: .sample) { [log] result in
            results.withLock { $0.append(result) }
            log.note(result.summary)
        }
        terminal.answer(await terminal.next(), .unauthorized)
        await log.waitForEvents(1)
        #expect(log.events == ["authenticationFailed"])
        #expect(results.withLock { $0 }.first?.response?.status == .unauthorized)
        #expect(provider.asked == 0)
    }

    @Test func resetForgetsCredentialsAndFailsWaitingTasks() async throws {
        let store = MemoryCredentialStore<BasicCredentials>()
        let chain = chain(store: store)
        async let code = chain.code(of: .sample)
        _ = await provider.question(1)
        await chain.reset()
        #expect(await code == .resetInProgress)
        #expect(provider.cancels.events == ["cancelled"])
        async let response = chain.load(.sample)
        await provider.question(2).answer(.success(aladdin))
        terminal.answer(await terminal.next())
        #expect(try await response.status == .ok)
        #expect(await store.load() == aladdin)
        await chain.reset()
        #expect(await store.load() == nil)
    }
}
