import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) final class BearerAuthResetTests {
    private let source = ScriptedAnswers<BearerToken>()
    private let stubborn = ScriptedAnswers<BearerToken>(endsOnCancel: false)
    private let terminal = ScriptedTerminal(onCancel: .waits)
    private let log = EventLog()

    deinit {
        source.end()
        stubborn.end()
        terminal.end()
    }

    private func chain(
        _ source: any TokenSource, store: any CredentialStore<BearerToken> = MemoryCredentialStore<BearerToken>()
    ) -> HTTPLoader {
        BearerAuth(hosts: .all, source: source, store: store, timers: ManualTimers()) --> terminal
    }

    @Test func resetFailsWaitingTasksAndWaitsForSource() async {
        let chain = chain(stubborn)
        for _ in 0..<2 { chain.load(request: .sample) { [log] in log.note($0.summary) } }
        let question = await stubborn.question(1)
        chain.reset { [log] in log.note("first reset") }
        #expect(log.events == ["resetInProgress", "resetInProgress"])
        await stubborn.cancels.waitForEvents(1)
        chain.load(request: .sample) { [log] in log.note($0.summary) }
        #expect(log.events.count == 3)
        let group = DispatchGroup()
        chain.reset(with: group)
        group.notify(queue: .global()) { [log] in log.note("second reset") }
        question.answer(.success(BearerToken(accessToken: "too late")))
        await log.waitForEvents(5)
        #expect(Set(log.events.suffix(2)) == ["first reset", "second reset"])
        chain.load(request: .sample) { _ in }
        #expect(await stubborn.question(2).old == nil)
    }

    @Test func resetForgetsTokenInMemoryAndStore() async throws {
        let store = MemoryCredentialStore(BearerToken(accessToken: "a"))
        let chain = chain(source, store: store)
        chain.load(request: .sample) { _ in }
        let task = await terminal.next()
        #expect(task.request.headers["Authorization"] == "Bearer a")
        terminal.answer(task)
        await chain.reset()
        #expect(await store.load() == nil)
        chain.load(request: .sample) { _ in }
        #expect(await source.question(1).old == nil)
    }

    /// Another user signs in after the first has signed out.
    @Test func tokenSavedAfterResetIsUsed() async {
        let store = MemoryCredentialStore(BearerToken(accessToken: "ann"))
        let chain = chain(source, store: store)
        for name in ["ann", "zoe"] {
            chain.load(request: .sample) { _ in }
            let task = await terminal.next()
            #expect(task.request.headers["Authorization"] == "Bearer \(name)")
            terminal.answer(task)
            await chain.reset()
            #expect(await store.load() == nil)
            await store.save(BearerToken(accessToken: "zoe"))
        }
        #expect(source.asked == 0)
    }

    @Test func requestSentBeforeResetIsNotRetriedWithNewToken() async throws {
        let auth = BearerAuth(hosts: .all, source: source, store: .holding("zoe"))
        let chain = auth --> PassingNoReset() --> terminal
        async let early = chain.load(.sample)
        let first = await terminal.next()
        await chain.reset()
        async let late = chain.load(.sample)
        await source.question(1).answer(.success(BearerToken(accessToken: "max")))
        terminal.answer(await terminal.next())
        terminal.answer(first, .unauthorized)
        #expect(try await early.status == .unauthorized)
        #expect(try await late.status == .ok)
        #expect(terminal.requests.count == 2)
        #expect(auth.state == .authorized)
    }

    @Test func rejectedTaskReturnsItsResponseOnReset() async throws {
        let chain = chain(source, store: .holding("a"))
        async let response = chain.load(.sample)
        terminal.answer(await terminal.next(), .unauthorized)
        _ = await source.question(1)
        await chain.reset()
        #expect(try await response.status == .unauthorized)
    }

    @Test func storeIsNotReadAfterResetUntilItForgets() async {
        let store = FaultyStore(BearerToken(accessToken: "a"), failing: ["forget"])
        let chain = chain(source, store: store)
        await chain.reset()
        #expect(await chain.code(of: .sample) == .authenticationFailed)
        #expect(store.log.events == ["forget", "forget"])
        store.fail([])
        chain.load(request: .sample) { _ in }
        #expect(await source.question(1).old == nil)
        #expect(store.log.events == ["forget", "forget", "forget", "load"])
    }

    @Test func concurrentResetsAllFinish() async {
        let chain = chain(source)
        for round in 1...20 {
            chain.load(request: .sample) { _ in }
            let groups = (0..<5).map { _ in DispatchGroup() }
            for group in groups {
                chain.reset(with: group)
                group.notify(queue: .global()) { [log] in log.note("reset") }
            }
            await log.waitForEvents(round * 5)
        }
    }
}

/// Keeps a reset from those after it.
private final class PassingNoReset: HTTPLoader, @unchecked Sendable {
    override func reset(with group: DispatchGroup) {}
}
