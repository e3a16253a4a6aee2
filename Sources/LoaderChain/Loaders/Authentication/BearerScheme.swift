/// Authentication with bearer tokens, for ``BearerAuth``.
struct BearerScheme: AuthenticationScheme {
    let source: any TokenSource
    let leeway: Duration
    let timers: any Timers

    static var name: String { "Bearer" }
    static var greatestReplays: Int { 2 }

    /// A rejected token still has its refresh token.
    static var forgetsRejected: Bool { false }

    var now: TimerInstant { timers.now }

    func prepare(_ token: BearerToken) throws(AuthenticationFailure) -> PreparedCredential<BearerToken> {
        let headerValue = Secret(try token.headerValue())
        var token = token
        let date = timers.date
        if token.obtained == nil { token.obtained = date }
        let remaining = token.remainingUse(at: date, leeway: leeway)
        return PreparedCredential(
            credential: token, headerValue: headerValue, deadline: remaining.map { timers.now.advanced(by: $0) })
    }

    func credential(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken? {
        try await source.token(replacing: old, using: chain)
    }

    func failure(for error: any Error) -> AuthenticationFailure {
        switch error {
        case is SignInRequired:
            AuthenticationFailure(
                code: .authenticationRequired, reason: "There is no token, and nothing to get one for",
                underlyingError: error, makesStoredWorthless: true)
        case let error as OAuthError where error.code == .invalidGrant:
            AuthenticationFailure(
                code: .authenticationRequired, reason: "\(error)", underlyingError: error, makesStoredWorthless: true)
        case let error as OAuthError:
            AuthenticationFailure(reason: "\(error)", underlyingError: error)
        default:
            AuthenticationFailure(reason: "The source had no token", underlyingError: error)
        }
    }
}
