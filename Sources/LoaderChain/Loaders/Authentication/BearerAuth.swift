import Dispatch

/// Adds a bearer token to each request that has no `Authorization` header, and replaces the token when it is due.
///
/// It is for servers that use tokens that expire, as in OAuth 2 (RFC 6749 and 6750). A ``TokenSource`` gets tokens, and
/// a ``CredentialStore`` keeps them.
///
/// ```swift
/// let chain = resetGuard --> environment --> retry
///     --> BearerAuth(
///         hosts: ["api.example.com"], source: RefreshTokenFlow(endpoint: tokenURL, client: OAuthClient(id: "my-app")),
///         store: .keychain(service: "com.example.app"))
///     --> throttle --> terminal
/// ```
///
/// You can rely on the following:
/// - The source is asked once at a time, for any number of tasks that wait. The source's own requests do not wait for
///   the token. If the source fails, the tasks fail and are not sent; the next task asks again. If all tasks that wait
///   are cancelled, the question continues and its answer is kept, because the server may have used up the refresh
///   token.
/// - A token with a known lifetime is replaced before its end, by the monotonic clock. The wall clock is read only for
///   a token from the store; a change of the wall clock costs at most one extra refresh.
/// - A task that gets a 401 is sent again with a newer token: the current one if the task was sent with an older one,
///   otherwise a new one. This happens at most twice per task. After that, or if its body cannot be sent again, the 401
///   is its result.
/// - A 401 with challenges only for other schemes, or for an error other than `invalid_token`, is passed on unchanged.
///
/// **Where it belongs:** after the loader that fills in the request's host, because the host decides whether the token
/// is sent. After ``Retry``, so that each attempt carries the token of its time. If the user may have to sign in,
/// before ``Throttle`` and other loaders that limit what runs, so that a task that waits takes no slot; otherwise the
/// throttle may be above both, where a task keeps its slot from one attempt to the next.
///
/// A reset forgets the token, also in the store. Tasks that wait fail with ``HTTPError/Code/resetInProgress``, or end
/// with the 401 that they already had, and so do tasks that come before the reset has finished. It cancels the question
/// that is under way, and finishes when the source and the store have returned. A task that was sent before a reset is
/// never sent again with the token of a user who signed in after it.
public final class BearerAuth: HTTPLoader, @unchecked Sendable {
    private let hosts: AuthorizedHosts
    private let authorizer: Authorizer<BearerScheme>

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - hosts: the hosts that get the token; requests to other hosts pass unchanged.
    ///   - source: gets tokens.
    ///   - store: keeps the token; by default in memory, so that it is gone when the program ends.
    ///   - leeway: the time before its end at which a token is replaced, by default half a minute; at most half of its lifetime.
    ///   - timers: the clock.
    public init(
        hosts: AuthorizedHosts, source: any TokenSource,
        store: any CredentialStore<BearerToken> = MemoryCredentialStore<BearerToken>(),
        leeway: Duration = .seconds(30), timers: any Timers = SystemTimers.shared
    ) {
        self.hosts = hosts
        authorizer = Authorizer(BearerScheme(source: source, leeway: leeway, timers: timers), store: store)
    }

    public override func load(task: HTTPTask) {
        let request = task.request
        guard !request.headers.contains("Authorization"), hosts.contain(request.host) else {
            return super.load(task: task)
        }
        guard hosts.protect(request) else {
            fail(task, .insecureConnection, reason: "A token is not sent over plain HTTP; use https")
            return
        }
        authorizer.load(task, for: self)
    }

    /// Forgets the token.
    public override func reset(with group: DispatchGroup) {
        authorizer.reset(with: group)
        super.reset(with: group)
    }

    /// Takes tasks again, though the source or the store has not returned; the token is forgotten before the next question.
    public override func resetTimedOut(with group: DispatchGroup) {
        authorizer.giveUpReset(of: group)
        super.resetTimedOut(with: group)
    }

    /// The state of the token.
    public enum State: Hashable, Sendable {
        /// There is no token, and neither the store nor the source has been asked.
        case idle
        /// The store or the source is being asked.
        case authorizing
        /// There is a token, and no reason to replace it.
        case authorized
        /// There is a token that was rejected or has expired. The next task asks for a new one.
        case expired
    }

    /// The state of the token, for display.
    public var state: State {
        switch authorizer.phase {
        case .idle, .resetting: .idle
        case .authorizing: .authorizing
        case .authorized(let held): held.isDue(at: authorizer.scheme.now) ? .expired : .authorized
        case .expired: .expired
        }
    }

    /// The state of the token, and how many tasks wait.
    public override var details: String { authorizer.details }
}

extension BearerAuth: ForwardingLoader {
    func forward(_ task: HTTPTask) { super.load(task: task) }
}

private struct BearerScheme: AuthenticationScheme {
    let source: any TokenSource
    let leeway: Duration
    let timers: any Timers

    static var name: String { "Bearer" }
    static var greatestReplays: Int { 2 }

    /// A rejected token still has its refresh token.
    static var forgetsRejected: Bool { false }

    var now: TimerInstant { timers.nowWithSleep }

    func prepare(_ token: BearerToken) throws(AuthenticationFailure) -> PreparedCredential<BearerToken> {
        let headerValue = Secret(try token.headerValue())
        var token = token
        let date = timers.date
        if token.obtained == nil { token.obtained = date }
        let remaining = token.remainingUse(at: date, leeway: leeway)
        return PreparedCredential(
            credential: token, headerValue: headerValue, deadline: remaining.map { now.advanced(by: $0) })
    }

    func credential(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken? {
        try await source.token(replacing: old, using: chain)
    }

    func failure(for error: any Error) -> AuthenticationFailure {
        switch error {
        case is SignInRequiredError:
            AuthenticationFailure(
                code: .authenticationRequired,
                reason: "There is no token: save one in the store, or let the user sign in",
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
