import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) final class BearerAuthStoreTests {
    private let source = ScriptedAnswers<BearerToken>()
    private let terminal = ScriptedTerminal { .success(.ok, body: $0.headers["Authorization"] ?? "") }

    deinit { source.end() }

    private func chain(_ store: FaultyStore<BearerToken>) -> HTTPLoader {
        BearerAuth(hosts: .all, source: source, store: store, timers: ManualTimers()) --> terminal
    }

    @Test func storedTokenIsLoadedOnceAndUsed() async throws {
        let store = FaultyStore(BearerToken(accessToken: "a"))
        let chain = chain(store)
        for _ in 0..<2 { _ = try await chain.load(.sample) }
        #expect(terminal.requests.map { $0.headers["Authorization"] } == ["Bearer a", "Bearer a"])
        #expect(store.log.events == ["load"])
    }

    @Test func tokenFromSourceIsSaved() async throws {
        let store = FaultyStore<BearerToken>()
        let chain = chain(store)
        async let response = chain.load(.sample)
        await source.question(1).answer(.success(BearerToken(accessToken: "a")))
        _ = try await response
        #expect(store.log.events == ["load", "save"])
        #expect(try await store.load() == BearerToken(accessToken: "a", obtained: ManualTimers.defaultDate))
    }

    @Test func unreadableStoreFailsTheTask() async {
        let chain = chain(FaultyStore(failing: ["load"]))
        do {
            _ = try await chain.load(.sample)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .authenticationFailed)
            #expect(error.underlyingError is FaultyStore<BearerToken>.Fault)
            #expect(error.reason == "The credential store could not be read")
        }
        #expect(source.asked == 0)
    }

    @Test func failedSaveFailsTaskButKeepsToken() async throws {
        let chain = chain(FaultyStore(failing: ["save"]))
        async let code = chain.code(of: .sample)
        await source.question(1).answer(.success(BearerToken(accessToken: "a")))
        #expect(await code == .authenticationFailed)
        #expect(terminal.requests.isEmpty)
        _ = try await chain.load(.sample)
        #expect(terminal.requests.map { $0.headers["Authorization"] } == ["Bearer a"])
    }

    @Test(arguments: [SignInRequiredError() as any Error, OAuthError(.invalidGrant, status: .badRequest)])
    func tokenIsForgottenWhenSignInIsRequired(_ error: any Error) async throws {
        let store = FaultyStore(BearerToken(accessToken: "", refreshToken: "r"))
        let chain = chain(store)
        async let code = chain.code(of: .sample)
        let question = await source.question(1)
        // One that cannot be sent may still be refreshed.
        #expect(question.old?.refreshToken == "r")
        question.answer(.failure(error))
        #expect(await code == .authenticationRequired)
        #expect(try await store.load() == nil)
    }

    @Test func tokenSavedWhileSourceRunsIsNotForgotten() async throws {
        let store = FaultyStore<BearerToken>()
        let chain = chain(store)
        async let code = chain.code(of: .sample)
        let question = await source.question(1)
        try await store.save(BearerToken(accessToken: "a"))
        question.answer(.failure(SignInRequiredError()))
        #expect(await code == .authenticationRequired)
        _ = try await chain.load(.sample)
        #expect(terminal.requests.map { $0.headers["Authorization"] } == ["Bearer a"])
    }

    @Test func tokenIsKeptAfterInvalidClientError() async throws {
        let store = FaultyStore(BearerToken(accessToken: "", refreshToken: "r"))
        let chain = chain(store)
        for number in 1...2 {
            async let code = chain.code(of: .sample)
            let question = await source.question(number)
            #expect(question.old?.refreshToken == "r")
            question.answer(.failure(OAuthError(.invalidClient, status: .unauthorized)))
            #expect(await code == .authenticationFailed)
        }
    }
}
