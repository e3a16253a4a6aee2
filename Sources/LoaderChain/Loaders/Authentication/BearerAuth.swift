import Dispatch

/// Adds a bearer token to each request that has no `Authorization` yet, and replaces the token when it is due.
///
/// It is for servers that are told who is calling by a token that expires, as OAuth 2 has it (RFC 6749 and 6750). Where
/// tokens come from is the ``TokenSource``'s affair, where they are kept that of the ``CredentialStore``.
///
/// ```swift
/// let chain = resetGuard --> environment --> retry
///     --> BearerAuth(
///         hosts: ["api.example.com"], source: RefreshTokenFlow(endpoint: tokenURL, client: OAuthClient(id: "my-app")),
///         store: TokenKeychain(keychain: keychain))
///     --> throttle --> terminal
/// ```
///
/// What can be relied on:
/// - One question to the source at a time, for any number of tasks that wait. They wait in no particular place: what the
///   source asks of the chain does not wait with them. If it fails, they fail with it, and none is sent; the next task asks
///   again. When all who waited were cancelled, the question goes on, and its answer is kept, because the server may have
///   used up the refresh token.
/// - A token whose lifetime is known is replaced before its end, on the monotonic clock. The wall clock is read only for a
///   token that comes from the store; a clock that was set costs at most one question too many.
/// - A task that is answered 401 is sent again with a later token: with the one that is there, if it was sent with an
///   earlier one, or else with one asked for. That happens at most twice to each task. Then, and if its body cannot be
///   sent again, the 401 is its result.
/// - A 401 with challenges for other schemes alone, or for an error other than `invalid_token`, is left as it is.
///
/// **Where it belongs:** after whatever fills in the request's host, since that decides who is told the token. After
/// ``Retry``, so that each of its attempts carries the token of its own time. If somebody may have to sign in first,
/// before ``Throttle`` and whatever else counts what runs, so that a task that waits takes nobody's place; otherwise the
/// throttle may stand above both, where a task keeps its slot from one attempt to the next.
///
/// A reset forgets the token, also in the store. Tasks that wait fail with ``HTTPError/Code/resetInProgress``, or end with
/// the 401 that they already had, and so do those that come before it has finished. It cancels the question that is under
/// way, and finishes when the source and the store have returned. A task that was sent before a reset is never sent again
/// with a token of whoever signed in after it.
public final class BearerAuth: HTTPLoader, @unchecked Sendable {
    private let hosts: AuthorizedHosts
    private let authorizer: Authorizer<BearerScheme>

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - hosts: who is told the token; requests to others pass as they are.
    ///   - source: who is asked for a token.
    ///   - store: where the token is kept; by default in memory, so that it is gone when the program ends.
    ///   - leeway: how long before its end a token is replaced, by default half a minute; at most half of its life.
    ///   - timers: what tells the time.
    public init(
        hosts: AuthorizedHosts, source: any TokenSource,
        store: any CredentialStore<BearerToken> = MemoryCredentialStore<BearerToken>(),
        leeway: Duration = .seconds(30), timers: any Timers = SystemTimers.shared
    ) {
        self.hosts = hosts
        authorizer = Authorizer(BearerScheme(source: source, leeway: leeway, timers: timers), store: store)
    }

    /// Passes the task on with a token, as soon as there is one.
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

    /// Where the loader has got to.
    public enum State: Hashable, Sendable {
        /// There is no token, and nobody has been asked.
        case idle
        /// The store or the source is being asked.
        case authorizing
        /// There is a token, and nothing is known against it.
        case authorized
        /// There is a token that was rejected or has outlived its time. The next task asks for another.
        case expired
    }

    /// Where the loader has got to, for display.
    public var state: State {
        switch authorizer.phase {
        case .idle, .resetting: .idle
        case .authorizing: .authorizing
        case .authorized(let held): held.isDue(at: authorizer.scheme.now) ? .expired : .authorized
        case .expired: .expired
        }
    }

    /// Where the loader has got to, and how many tasks wait.
    public override var details: String { authorizer.details }
}

extension BearerAuth: ForwardingLoader {
    func forward(_ task: HTTPTask) { super.load(task: task) }
}
