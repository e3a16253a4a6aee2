/// The differences between schemes of authentication; an ``Authorizer`` does what they have in common.
protocol AuthenticationScheme: Sendable {
    /// The credential, made of texts and numbers only, so that it may end under a lock.
    associatedtype Credential: Sendable

    /// The name of the scheme in challenges.
    static var name: String { get }

    /// How often a task whose credential was rejected is sent again with another credential.
    static var greatestReplays: Int { get }

    /// Whether a rejected credential is useless for getting the next one.
    static var forgetsRejected: Bool { get }

    /// The present, on the clock of the deadlines.
    var now: TimerInstant { get }

    /// Prepares a credential of the store or the source for sending; throws if it cannot be used.
    func prepare(_ credential: Credential) throws(AuthenticationFailure) -> PreparedCredential<Credential>

    /// Gets a credential from the source; nil if there is no source.
    func credential(replacing old: Credential?, using chain: RestOfChain) async throws -> Credential?

    /// The failure of the tasks that wait, when the source has thrown `error`.
    func failure(for error: any Error) -> AuthenticationFailure
}

/// A credential that is ready to be sent.
struct PreparedCredential<Credential: Sendable>: Sendable {
    var credential: Credential
    var headerValue: Secret<String>
    /// When to replace it; nil if only the server knows.
    var deadline: TimerInstant?

    func isDue(at now: TimerInstant) -> Bool { deadline.map { $0 <= now } ?? false }
}

extension AuthenticationScheme {
    /// Whether the response says that another credential may be accepted.
    ///
    /// A server whose challenges are all for other schemes does not mean this credential. One that names an error other
    /// than `invalid_token` would refuse a new credential too. Many servers name no error, and do mean the credential.
    func isRejection(_ result: HTTPResult) -> Bool {
        guard let response = result.response, response.status == .unauthorized else { return false }
        // A loader further down may have turned the response into an error.
        if let code = result.error?.code, code != .invalidResponse { return false }
        let challenges = AuthenticationChallenge.all(in: response.headers)
        if challenges.isEmpty { return true }
        return challenges.contains { challenge in
            challenge.isFor(Self.name) && challenge.parameters["error"].map { $0 == "invalid_token" } ?? true
        }
    }
}
