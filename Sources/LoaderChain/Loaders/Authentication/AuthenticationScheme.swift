/// What sets one way of authentication apart from another, for an ``Authorizer`` that does what they have in common.
protocol AuthenticationScheme: Sendable {
    /// What is sent along with every task, and is made of texts and numbers, so that it may be let go of under a lock.
    associatedtype Credential: Sendable

    /// The name by which servers ask for it.
    static var name: String { get }

    /// How often a task whose credential was rejected is sent again with another.
    static var greatestReplays: Int { get }

    /// Whether a rejected credential is of no use for getting the next.
    static var forgetsRejected: Bool { get }

    /// The present, on the clock that deadlines are given by.
    var now: TimerInstant { get }

    /// Gets ready what the store or the source had, or says why it cannot be used.
    func prepare(_ credential: Credential) throws(AuthenticationFailure) -> PreparedCredential<Credential>

    /// Asks whoever knows for a credential; nil if there is nobody to ask.
    func credential(replacing old: Credential?, using chain: RestOfChain) async throws -> Credential?

    /// What the tasks that waited are told when asking has thrown `error`.
    func failure(for error: any Error) -> AuthenticationFailure
}

/// A credential that is ready to be sent.
struct PreparedCredential<Credential: Sendable>: Sendable {
    var credential: Credential
    var headerValue: Secret<String>
    /// When it is to be replaced; nil if only the server knows.
    var deadline: TimerInstant?

    func isDue(at now: TimerInstant) -> Bool { deadline.map { $0 <= now } ?? false }
}

extension AuthenticationScheme {
    /// Whether the response says that another credential would have helped.
    ///
    /// A server that asks for other schemes alone does not mean this credential. One that names an error other than
    /// `invalid_token` would make it again. Many name nothing at all, and mean it.
    func isRejection(_ result: HTTPResult) -> Bool {
        guard let response = result.response, response.status == .unauthorized else { return false }
        // A loader further down may have made an error of the response already.
        if let code = result.error?.code, code != .invalidResponse { return false }
        let challenges = AuthenticationChallenge.all(in: response.headers)
        if challenges.isEmpty { return true }
        return challenges.contains { challenge in
            challenge.isFor(Self.name) && challenge.parameters["error"].map { $0 == "invalid_token" } ?? true
        }
    }
}
