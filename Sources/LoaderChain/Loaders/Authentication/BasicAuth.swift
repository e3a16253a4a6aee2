import Dispatch

/// Adds a user and a password to each request that has no `Authorization` yet.
///
/// It is for servers that know their callers by name and password (RFC 7617). A request may bring its own credentials in
/// ``HTTPRequest/basicCredentials``. All others get those of the store; while there are none, the provider is asked, once
/// for all the tasks that wait meanwhile.
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
/// When the server answers 401 to the credentials, the store forgets them before the provider is asked for others, and
/// the task is sent once more with those, if its body can be sent again. A second 401 is the task's result, and so is the
/// first one if the request brought its own credentials, or if there is no provider. A provider that answers nil fails the
/// tasks that wait with ``HTTPError/Code/authenticationRequired``; the next task asks again. When all who waited were
/// cancelled, the question goes on, and its answer is kept.
///
/// **Where it belongs:** after whatever fills in the request's host, since that decides who is told the credentials. After
/// ``Retry``, so that each of its attempts carries the credentials of its own time. If somebody may have to sign in first,
/// before ``Throttle`` and whatever else counts what runs, so that a task that waits takes nobody's place; otherwise the
/// throttle may stand above both, where a task keeps its slot from one attempt to the next.
///
/// A reset forgets the credentials, also in the store. Tasks that wait fail with ``HTTPError/Code/resetInProgress``, or end
/// with the 401 that they already had, and so do those that come before it has finished. It cancels the question that is
/// under way, and finishes when the provider and the store have returned.
public final class BasicAuth: HTTPLoader, @unchecked Sendable {
    private let hosts: AuthorizedHosts
    private let authorizer: Authorizer<BasicScheme>?

    /// Makes a loader that adds the credentials that requests bring themselves, and no others.
    public override init() {
        hosts = []
        authorizer = nil
    }

    /// Makes a loader that has credentials of its own.
    ///
    /// - Parameters:
    ///   - hosts: who is told them; requests to others pass as they are. Credentials that a request brings itself go to
    ///     wherever that request goes.
    ///   - store: where they are kept; by default in memory, so that they are gone when the program ends.
    ///   - provider: who is asked when the store has none; nil, the default, to send requests without any then.
    public init(
        hosts: AuthorizedHosts,
        store: any CredentialStore<BasicCredentials> = MemoryCredentialStore<BasicCredentials>(),
        provider: (any BasicCredentialsProvider)? = nil
    ) {
        self.hosts = hosts
        authorizer = Authorizer(BasicScheme(provider: provider), store: store)
    }

    /// Passes the task on with credentials, as soon as there are any.
    public override func load(task: HTTPTask) {
        let request = task.request
        guard !request.headers.contains("Authorization") else { return super.load(task: task) }
        let own = request.basicCredentials
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

    /// Whether there are credentials, and how many tasks wait for some.
    public override var details: String { authorizer?.details ?? "" }
}

extension BasicAuth: ForwardingLoader {
    func forward(_ task: HTTPTask) { super.load(task: task) }
}
