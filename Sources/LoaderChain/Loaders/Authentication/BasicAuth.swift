import Dispatch

/// Adds a user and a password to each request that has no `Authorization` header.
///
/// It is for servers that use basic authentication (RFC 7617). A request may have its own credentials in
/// ``HTTPRequest/basicCredentials``. All others get those of the store; if it has none, the provider is asked once for
/// all the tasks that wait meanwhile.
///
/// ```swift
/// struct SignInSheet: BasicCredentialsProvider {
///     func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials? {
///         await showSheet(wasWrong: rejected != nil)
///     }
/// }
///
/// let chain = resetGuard --> environment --> retry
///     --> BasicAuth(hosts: ["api.example.com"], provider: SignInSheet())
///     --> throttle --> terminal
/// ```
///
/// When the server responds with 401, the store forgets the credentials before the provider is asked for new ones, and the
/// task is sent once more with those, if its body can be sent again. A second 401 is the task's result, and so is the
/// first one if the request has its own credentials, or if there is no provider. If the provider returns nil, the tasks
/// that wait fail with ``HTTPError/Code/authenticationRequired``; the next task asks again. If all tasks that wait are
/// cancelled, the question continues, and its answer is kept.
///
/// **Where it belongs:** after the loader that fills in the request's host, because the host decides whether
/// credentials are sent. After ``Retry``, so that each attempt carries the credentials of its time. If the user may
/// have to sign in, before ``Throttle`` and other loaders that limit what runs, so that a task that waits takes no
/// slot; otherwise the throttle may be above both, where a task keeps its slot from one attempt to the next.
///
/// A reset forgets the credentials, also in the store. Tasks that wait fail with ``HTTPError/Code/resetInProgress``, or
/// end with the 401 that they already had, and so do tasks that come before the reset has finished. It cancels the
/// question that is under way, and finishes when the provider and the store have returned.
public final class BasicAuth: HTTPLoader, @unchecked Sendable {
    private let hosts: AuthorizedHosts
    private let authorizer: Authorizer<BasicScheme>?

    /// Makes a loader that only adds the credentials that requests have themselves.
    public override init() {
        hosts = []
        authorizer = nil
    }

    /// Makes a loader that has credentials of its own.
    ///
    /// - Parameters:
    ///   - hosts: the hosts that get the credentials; requests to other hosts pass unchanged. A request's own
    ///     credentials are sent to any host.
    ///   - store: keeps the credentials; by default in memory, so that they are gone when the program ends.
    ///   - provider: is asked if the store has none; nil, the default, to send requests without credentials then.
    public init(
        hosts: AuthorizedHosts,
        store: any CredentialStore<BasicCredentials> = MemoryCredentialStore<BasicCredentials>(),
        provider: (any BasicCredentialsProvider)? = nil
    ) {
        self.hosts = hosts
        authorizer = Authorizer(BasicScheme(provider: provider), store: store)
    }

    public override func load(task: HTTPTask) {
        let request = task.request
        guard !request.headers.contains("Authorization") else { return super.load(task: task) }
        let own = request.isForChosenServer ? nil : request.basicCredentials
        guard own != nil || authorizer != nil && hosts.contain(request.host) else { return super.load(task: task) }
        guard hosts.protect(request) else {
            fail(task, .insecureConnection, reason: "Credentials are not sent over plain HTTP; use https")
            return
        }
        if let own { return load(task, with: own) }
        authorizer?.load(task, for: self)
    }

    private func load(_ task: HTTPTask, with own: BasicCredentials) {
        do throws(AuthenticationFailure) {
            task.request.headers["Authorization"] = try own.headerValue()
        } catch {
            fail(task, error.code, reason: error.reason)
            return
        }
        super.load(task: task)
    }

    /// Forgets the credentials.
    public override func reset(with group: DispatchGroup) {
        authorizer?.reset(with: group)
        super.reset(with: group)
    }

    /// Takes tasks again, though the source or the store has not returned; the credentials are forgotten before the next question.
    public override func resetTimedOut(with group: DispatchGroup) {
        authorizer?.giveUpReset(of: group)
        super.resetTimedOut(with: group)
    }

    /// Whether there are credentials, and how many tasks wait for some.
    public override var details: String { authorizer?.details ?? "" }
}

extension BasicAuth: ForwardingLoader {
    func forward(_ task: HTTPTask) { super.load(task: task) }
}

private struct BasicScheme: AuthenticationScheme {
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

    func credential(replacing old: BasicCredentials?, using chain: Next) async throws -> BasicCredentials? {
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
