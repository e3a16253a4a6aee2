import Dispatch

/// Takes tasks through authorization: gets a credential, sends the tasks, and sends them again if the credential was rejected.
///
/// A ``CredentialState`` decides under the lock, and its decisions are carried out after unlocking. No store, source,
/// task or completion handler is called while the lock is held. Tasks are held while they wait, but not after they have
/// been passed on: then only their attempts hold them.
final class Authorizer<Scheme: AuthenticationScheme>: Sendable {
    typealias State = CredentialState<PreparedCredential<Scheme.Credential>, Journey>

    let scheme: Scheme
    private let store: any CredentialStore<Scheme.Credential>
    private let books = Locked(Books())

    private struct Books {
        var state = State(forgetsRejected: Scheme.forgetsRejected)
        /// The Swift task of the current question, once it is known.
        var work: Task<Void, Never>?
        /// The resets that wait for the question to end.
        var groups: [DispatchGroup] = []
        /// The last question before a reset that has asked the store to forget, which has not answered.
        var forgetting: Int?

        /// The store that was asked after a question has forgotten, or has failed to.
        ///
        /// - Returns: the resets that are finished, and the question of a later reset for which to ask the store again.
        mutating func hasForgotten(_ hasForgotten: Bool, after asked: Int) -> (finished: [DispatchGroup], next: Int?) {
            if let forgetting, forgetting != asked, state.hears(forgetting) { return ([], forgetting) }
            let isLast = replace(&forgetting, with: nil) == asked
            // The reset was given up.
            guard isLast, state.hears(asked) else { return ([], nil) }
            state.finishReset(hasForgotten: hasForgotten)
            return (replace(&groups, with: []), nil)
        }
    }

    /// A task on its way through authorization.
    struct Journey: Sendable {
        let task: HTTPTask
        let loader: any ForwardingLoader
        var replays = 0
        /// The response to the credential that the task was sent with last.
        var rejection: HTTPResult?
    }

    init(_ scheme: Scheme, store: any CredentialStore<Scheme.Credential>) {
        self.scheme = scheme
        self.store = store
    }

    var phase: State.Phase { books.withLock { $0.state.phase } }
    private var waiting: Int { books.withLock { $0.state.waiting } }

    var details: String {
        let (phase, waiting) = (phase, waiting)
        var name = phase.name
        if case .authorized(let held) = phase, held.isDue(at: scheme.now) { name = "expired" }
        return name + (waiting == 0 ? "" : ", waiting \(waiting)")
    }

    // MARK: Tasks

    /// Sends a task with the credential as soon as there is one.
    func load(_ task: HTTPTask, for loader: any ForwardingLoader) {
        let journey = Journey(task: task, loader: loader)
        let now = scheme.now
        proceed(journey, by: books.withLock { $0.state.arrive(journey, at: now) })
    }

    private func proceed(_ journey: Journey, by step: State.Step) {
        switch step {
        case .go(let held):
            send(journey, with: held)
        case .wait(let number):
            endWaitOnCancel(of: journey.task, number)
        case .ask(let question, let number):
            endWaitOnCancel(of: journey.task, number)
            ask(question, for: journey.loader)
        case .refuse:
            journey.refuse()
        }
    }

    private func endWaitOnCancel(of task: HTTPTask, _ number: Int) {
        task.addCancelHandler { [weak self] in
            guard let journey = self?.books.withLock({ $0.state.leave(number) }) else { return }
            journey.loader.fail(journey.task, .cancelled)
        }
    }

    /// Sends a task as an attempt, because only an attempt can be repeated.
    private func send(_ journey: Journey, with held: State.Held) {
        var request = journey.task.request
        request.headers["Authorization"] = held.credential.headerValue.value
        let attempt = journey.task.makeAttempt(request)
        attempt.addCompletionHandler { self.hear($0, of: journey, sentWith: held.generation) }
        journey.loader.forward(attempt)
    }

    private func hear(_ result: HTTPResult, of journey: Journey, sentWith generation: Int) {
        // The target of a redirect has not got the credential, so it cannot reject it.
        let wasSent = result.response?.request.headers.contains("Authorization") == true
        guard wasSent, scheme.isRejection(result) else {
            journey.task.complete(result)
            return
        }
        var journey = journey
        journey.rejection = result
        journey.replays += 1
        let waiter = journey.canBeReplayed ? journey : nil
        let now = scheme.now
        if let step = books.withLock({ $0.state.reject(generation, by: waiter, at: now) }) {
            proceed(journey, by: step)
        } else {
            journey.task.complete(result)
        }
    }

    // MARK: The question

    private func ask(_ question: State.Question, for loader: any ForwardingLoader) {
        // Detached, because it works for all that wait: the first gives it neither its priority nor its trace.
        let work = Task.detached { await self.pursue(question, for: loader) }
        let standing = books.withLock { books in
            let standing = books.state.standing(of: question.number)
            if standing == .underWay { books.work = work }
            return standing
        }
        // A reset came before it could know this Swift task.
        if standing == .unwanted { work.cancel() }
    }

    /// Whether the answer to a question is wanted still; it is not after a reset that was given up.
    private func hears(_ question: State.Question) -> Bool { books.withLock { $0.state.hears(question.number) } }

    private func pursue(_ question: State.Question, for loader: any ForwardingLoader) async {
        let answer = await answer(to: question, for: loader)
        let heard = books.withLock { books -> (State.Ending, Task<Void, Never>?)? in
            guard books.state.hears(question.number) else { return nil }
            let ending = books.state.answer(
                answer.credential, until: answer.credential?.deadline, hasForgotten: answer.hasForgotten)
            return (ending, replace(&books.work, with: nil))
        }
        // A reset was given up that had ended this question.
        guard let (ending, work) = heard else { return }
        _ = consume work
        switch ending {
        case .go(let waiters, let held):
            for journey in waiters {
                if let failure = answer.failure { journey.fail(failure) } else { send(journey, with: held) }
            }
        case .stay(let waiters):
            for journey in waiters {
                if let failure = answer.failure { journey.fail(failure) } else { journey.goWithout() }
            }
        case .forget:
            forget(after: question.number)
        }
    }

    // MARK: Resetting

    /// Forgets everything, and leaves the group when no question is under way any more.
    func reset(with group: DispatchGroup) {
        group.enter()
        let (reset, question, work) = books.withLock { books in
            books.groups.append(group)
            return (books.state.reset(), books.state.lastQuestion, replace(&books.work, with: nil))
        }
        work?.cancel()
        for journey in reset.waiters { journey.refuse() }
        if reset.forgetsNow { forget(after: question) }
    }

    /// Takes tasks again, though the question or the store has not ended.
    func giveUpReset(of group: DispatchGroup) {
        let isGivenUp = books.withLock { books in
            guard let index = books.groups.firstIndex(where: { $0 === group }) else { return false }
            books.groups.remove(at: index)
            if books.groups.isEmpty { books.state.giveUpReset() }
            return true
        }
        if isGivenUp { group.leave() }
    }

    /// Empties the store in a new Swift task, because that of the question has been cancelled.
    ///
    /// There is one such Swift task at a time: a store that does not return keeps nothing more of each reset that was
    /// given up. When it returns after all, and another reset has come, it is asked once more.
    private func forget(after question: Int) {
        let isAsking = books.withLock { books in
            // Another thread may have begun a later reset since the number of this one was drawn.
            let latest = books.forgetting.map { max($0, question) } ?? question
            return replace(&books.forgetting, with: latest) != nil
        }
        guard !isAsking else { return }
        Task.detached { [self] in
            var asked: Int? = question
            while let last = asked {
                let hasForgotten = await emptyStore()
                let (finished, next) = books.withLock { $0.hasForgotten(hasForgotten, after: last) }
                for group in finished { group.leave() }
                asked = next
            }
        }
    }
}

extension Authorizer.Journey {
    fileprivate var canBeReplayed: Bool {
        replays <= Scheme.greatestReplays && !task.isCancelled && task.request.body.canBeSentAgain
    }

    fileprivate func fail(_ failure: AuthenticationFailure) {
        loader.fail(
            task, failure.code, response: rejection?.response, underlyingError: failure.underlyingError,
            reason: failure.reason)
    }

    /// Ends because of a reset, with the server's response if there is one.
    fileprivate func refuse() {
        if let rejection {
            task.complete(rejection)
        } else {
            loader.fail(task, .resetInProgress, reason: "The credentials that it waited for are being forgotten")
        }
    }

    /// Ends, or goes on without a credential, because there is no source.
    fileprivate func goWithout() {
        if let rejection { task.complete(rejection) } else { loader.forward(task) }
    }
}

// MARK: - Answering a question

extension Authorizer {
    private struct Answer {
        var credential: PreparedCredential<Scheme.Credential>?
        /// Why the tasks that waited fail; they may fail although there is a credential.
        var failure: AuthenticationFailure?
        /// Whether the store has been emptied.
        var hasForgotten = false
    }

    /// Asks the store, then the source, and saves in the store what the source returned.
    private func answer(to question: State.Question, for loader: any ForwardingLoader) async -> Answer {
        var answer = Answer()
        var old = question.old?.credential
        do throws(AuthenticationFailure) {
            if question.mustForget {
                try await naming("The credential store could not forget") { try await store.forget() }
                answer.hasForgotten = true
            }
            if question.mayLoad,
                let stored = try await naming("The credential store could not be read", { try await store.load() })
            {
                if let prepared = try? scheme.prepare(stored), !prepared.isDue(at: scheme.now) {
                    answer.credential = prepared
                    return answer
                }
                // A credential that is due, or cannot be sent, may still help to get another one.
                old = stored
            }
            guard let new = try await credential(replacing: old, using: Next(after: loader)) else {
                return answer
            }
            // After a reset that was given up, the store is for what comes next, perhaps another user's.
            guard hears(question) else { return answer }
            let prepared = try scheme.prepare(new)
            // Used from here on, even if the save fails: the server may have issued it only once.
            answer.credential = prepared
            try await naming("The credential store could not save") { try await store.save(prepared.credential) }
        } catch {
            answer.failure = error
            // With nothing to replace there is nothing to forget, and the app may be saving a new credential.
            if error.makesStoredWorthless, old != nil, hears(question) { answer.hasForgotten = await emptyStore() }
        }
        return answer
    }

    private func emptyStore() async -> Bool {
        do {
            try await store.forget()
            return true
        } catch {
            return false
        }
    }

    private func credential(
        replacing old: Scheme.Credential?, using chain: Next
    ) async throws(AuthenticationFailure) -> Scheme.Credential? {
        do { return try await scheme.credential(replacing: old, using: chain) } catch {
            throw scheme.failure(for: error)
        }
    }

    private func naming<Value>(
        _ reason: String, _ body: () async throws -> Value
    ) async throws(AuthenticationFailure) -> Value {
        do { return try await body() } catch {
            throw AuthenticationFailure(reason: reason, underlyingError: error)
        }
    }
}

extension CredentialState.Phase {
    fileprivate var name: String {
        switch self {
        case .idle: "idle"
        case .authorizing: "authorizing"
        case .authorized: "authorized"
        case .expired: "expired"
        case .resetting: "resetting"
        }
    }
}
