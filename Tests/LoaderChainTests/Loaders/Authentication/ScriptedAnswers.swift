import LoaderChainTesting

@testable import LoaderChain

/// A source of credentials that answers when a test says so.
final class ScriptedAnswers<Credential: Sendable>: Sendable {
    /// A question that waits for its answer.
    struct Question: Sendable {
        let old: Credential?
        let answer: @Sendable (Result<Credential?, any Error>) -> Void
    }

    /// Notes a line whenever a question is cancelled.
    let cancels = EventLog()
    private let arrivals = EventLog()
    private let endsOnCancel: Bool
    private let state = Locked(State())

    private struct State {
        var questions: [Question] = []
        var asked = 0
    }

    init(endsOnCancel: Bool = true) { self.endsOnCancel = endsOnCancel }

    /// How often credentials were asked for.
    var asked: Int { state.withLock { $0.asked } }

    /// The question of this number, the first being 1.
    func question(_ number: Int) async -> Question {
        await arrivals.waitForEvents(number)
        return state.withLock { $0.questions[number - 1] }
    }

    /// Answers what is left, so that nothing of a test remains.
    func end() {
        for question in state.withLock({ $0.questions }) { question.answer(.failure(CancellationError())) }
    }

    func ask(_ old: Credential?) async throws -> Credential? {
        let answer = OneShot()
        let endsOnCancel = endsOnCancel
        let resume = Locked<(@Sendable (Result<Credential?, any Error>) -> Void)?>(nil)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let end: @Sendable (Result<Credential?, any Error>) -> Void = {
                    if answer.take() { continuation.resume(with: $0) }
                }
                resume.withLock { $0 = end }
                state.withLock {
                    $0.questions.append(Question(old: old, answer: end))
                    $0.asked += 1
                }
                arrivals.note("asked")
                if Task.isCancelled, endsOnCancel { end(.failure(CancellationError())) }
            }
        } onCancel: {
            // Noted first, so that what waits for the end of the question finds it.
            cancels.note("cancelled")
            if endsOnCancel { resume.withLock { $0 }?(.failure(CancellationError())) }
        }
    }
}

extension ScriptedAnswers: TokenSource where Credential == BearerToken {
    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        guard let token = try await ask(old) else { throw SignInRequiredError() }
        return token
    }
}

extension ScriptedAnswers: BasicCredentialsProvider where Credential == BasicCredentials {
    func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials? {
        try await ask(rejected)
    }
}

/// A source or provider that is written as a closure.
struct ClosureSource<Credential: Sendable>: Sendable {
    let body: @Sendable (Credential?, Next?) async throws -> Credential?
}

extension ClosureSource: TokenSource where Credential == BearerToken {
    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        guard let token = try await body(old, chain) else { throw SignInRequiredError() }
        return token
    }
}

extension ClosureSource: BasicCredentialsProvider where Credential == BasicCredentials {
    func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials? {
        try await body(rejected, nil)
    }
}

/// A store that fails where a test wants it to, and notes what it is told.
final class FaultyStore<Credential: Sendable>: CredentialStore {
    struct Fault: Error {}

    let log = EventLog()
    private let memory: MemoryCredentialStore<Credential>
    private let faults = Locked<Set<String>>([])

    init(_ credential: Credential? = nil, failing: Set<String> = []) {
        memory = MemoryCredentialStore(credential)
        fail(failing)
    }

    func fail(_ methods: Set<String>) { faults.withLock { $0 = methods } }

    func load() async throws -> Credential? {
        try note("load")
        return await memory.load()
    }

    func save(_ credential: Credential) async throws {
        try note("save")
        await memory.save(credential)
    }

    func forget() async throws {
        try note("forget")
        await memory.forget()
    }

    private func note(_ method: String) throws {
        log.note(method)
        if faults.withLock({ $0.contains(method) }) { throw Fault() }
    }
}

/// A number that threads count up together.
final class Counter: Sendable {
    private let counted = Locked(0)
    var count: Int { counted.withLock { $0 } }
    @discardableResult func next() -> Int {
        counted.withLock { count in
            count += 1
            return count
        }
    }
}

extension ScriptedTerminal {
    /// Refuses what is left, so that nothing of a test remains.
    func end() {
        for task in held { refuse(task, .cancelled) }
    }
}

extension HTTPLoader {
    /// Loads a request, and answers the error's kind; nil for a response.
    func code(of request: HTTPRequest) async -> HTTPError.Code? {
        do throws(HTTPError) {
            _ = try await load(request)
            return nil
        } catch {
            return error.code
        }
    }
}
