struct BasicScheme: AuthenticationScheme {
    let provider: (any BasicCredentialsProvider)?

    static var name: String { "Basic" }
    static var greatestReplays: Int { 1 }
    static var forgetsRejected: Bool { true }

    /// Passwords do not expire, so no clock is needed.
    var now: TimerInstant { TimerInstant(nanoseconds: 0) }

    func prepare(
        _ credentials: BasicCredentials
    ) throws(AuthenticationFailure) -> PreparedCredential<BasicCredentials> {
        PreparedCredential(credential: credentials, headerValue: Secret(try credentials.headerValue()))
    }

    func credential(replacing old: BasicCredentials?, using chain: RestOfChain) async throws -> BasicCredentials? {
        guard let provider else { return nil }
        guard let credentials = try await provider.credentials(replacing: old) else {
            throw AuthenticationFailure(code: .authenticationRequired, reason: "The provider had no credentials")
        }
        return credentials
    }

    func failure(for error: any Error) -> AuthenticationFailure {
        error as? AuthenticationFailure
            ?? AuthenticationFailure(reason: "The provider failed", underlyingError: error)
    }
}
