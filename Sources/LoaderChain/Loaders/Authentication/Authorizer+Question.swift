extension Authorizer {
    struct Answer {
        var credential: PreparedCredential<Scheme.Credential>?
        /// Why the tasks that waited fail; they may fail although there is a credential.
        var failure: AuthenticationFailure?
        /// Whether the store has been emptied.
        var hasForgotten = false
    }

    /// Asks the store, then the source, and saves in the store what the source returned.
    func answer(to question: State.Question, for loader: any ForwardingLoader) async -> Answer {
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
            guard let new = try await credential(replacing: old, using: RestOfChain(after: loader)) else {
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
            if error.makesStoredWorthless, old != nil { answer.hasForgotten = await emptyStore() }
        }
        return answer
    }

    /// Empties the store, and returns whether that succeeded.
    func emptyStore() async -> Bool {
        do {
            try await store.forget()
            return true
        } catch {
            return false
        }
    }

    private func credential(
        replacing old: Scheme.Credential?, using chain: RestOfChain
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
