// LoaderChainURLSession: the terminal over a URLSession. URLSessionLoader is its face; an Exchange loads one request; a SessionOwner has
// the session, whose delegate tells the exchanges what happens; the other files turn requests, responses and errors of one side into
// those of the other.

import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The terminal of a chain that loads requests with a `URLSession`.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> throttle --> URLSessionLoader()
/// let response = try await chain.load(HTTPRequest(url: url))
/// ```
///
/// **Responses.** By default a response is delivered in memory, whatever its status; one that exceeds the size limit fails
/// as soon as that is known. A request changes this with its options: `HTTPRequest.delivery` for a body in chunks or in a
/// file, `HTTPRequest.redirects`, `HTTPRequest.timeout`, `HTTPRequest.onProgress`, `HTTPRequest.cachePolicy` and
/// `HTTPRequest.networkAccess`.
///
/// **Methods.** The session sends `get`, `post` and the like in capitals, which are other methods. A request whose method it would
/// change fails with `HTTPError.Code.invalidRequest`, and nothing is sent.
///
/// **Credentials.** The session never answers a challenge for a password: the 401 is the response, and `BasicAuth` is the
/// loader that handles it. Credentials do not follow a redirect to another host, scheme or port.
///
/// **Cookies.** The loader keeps none, and sends none but those of the request's `Cookie` header. `KeepCookies`, put before it, keeps
/// them in a jar of your own, those of redirects too.
///
/// **Connections.** The loader has 64 requests to one host under way at once; more wait in their turn, by their priority. That is a wait
/// like that in a `Throttle`: a tap measures it as such, and no timeout counts it. The session's own limit, of six connections a host,
/// would let requests wait where nobody sees it. A body in chunks that is still being read does not count.
///
/// **Lifetime.** The loader makes one session, and invalidates it when the loader is released and nothing is in flight. A
/// reset cancels everything in flight, bodies that are still arriving included, and waits until it has stopped.
public final class URLSessionLoader: HTTPLoader, @unchecked Sendable {
    /// The default limit of a response in memory: 64 MiB.
    public static let defaultResponseSizeLimit = 64 << 20

    let owner: SessionOwner
    /// Where requests wait for a connection.
    private let entrance: Throttle

    /// Makes a loader with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the session, which is copied. The loader applies its timeouts and header
    ///     fields itself, so that credentials among them do not follow a redirect to another host. Its limit of connections
    ///     and its cookie storage are not used; on Linux neither are its cache and its credential storage.
    ///   - requestsPerHost: how many requests to one host may be under way at once, at least 1. With HTTP/1, each needs a
    ///     connection.
    ///   - responseSizeLimit: the most bytes of a response in memory, for requests that set no limit of their own.
    ///   - timers: the clock of the timeouts.
    public init(
        configuration: URLSessionConfiguration = .default, requestsPerHost: Int = 64,
        responseSizeLimit: Int = defaultResponseSizeLimit, timers: any Timers = SystemTimers.shared
    ) {
        owner = SessionOwner(SessionSettings(configuration, responseSizeLimit: responseSizeLimit), timers: timers)
        entrance = Self.entrance(to: owner, requestsPerHost)
    }

    /// Makes a loader with a session of its own, and with options for its secure connections.
    ///
    /// ```swift
    /// var tls = TLSOptions()
    /// tls.minimumVersion = .v1_3
    /// let loader = try URLSessionLoader(tls: tls)
    /// ```
    ///
    /// On Apple systems it can do all but use a client certificate as PEM. On Linux the session has no settings for any of it, so that
    /// options other than the default are refused.
    ///
    /// - Parameters:
    ///   - tls: whom the loader trusts, and how it identifies itself.
    ///   - configuration: the configuration of the session, as in ``init(configuration:requestsPerHost:responseSizeLimit:timers:)``.
    ///   - requestsPerHost: how many requests to one host may be under way at once, at least 1.
    ///   - responseSizeLimit: the most bytes of a response in memory, for requests that set no limit of their own.
    ///   - timers: the clock of the timeouts.
    /// - Throws: what the system's session cannot do, or what is wrong with the options.
    public init(
        tls: TLSOptions, configuration: URLSessionConfiguration = .default, requestsPerHost: Int = 64,
        responseSizeLimit: Int = defaultResponseSizeLimit, timers: any Timers = SystemTimers.shared
    ) throws(TLSOptions.Refused) {
        let trust = try SessionTrust(tls)
        owner = SessionOwner(
            SessionSettings(configuration, responseSizeLimit: responseSizeLimit, trust: trust), timers: timers)
        entrance = Self.entrance(to: owner, requestsPerHost)
    }

    /// Makes a loader that uses your session.
    ///
    /// On Apple systems the requests run in your session, and share its connections and cache with everything else it does, but
    /// not its cookies. Secure connections are its own business, too. It stays yours: invalidate it after the loader is gone. On
    /// other systems a session cannot be shared, and the loader makes its own with the same configuration. As many requests to one
    /// host are under way at once as the session's configuration allows connections.
    ///
    /// - Parameters:
    ///   - session: the session; it must not be a background session.
    ///   - responseSizeLimit: the most bytes of a response in memory, for requests that set no limit of their own.
    ///   - timers: the clock of the timeouts.
    public init(
        session: URLSession, responseSizeLimit: Int = defaultResponseSizeLimit,
        timers: any Timers = SystemTimers.shared
    ) {
        owner = SessionOwner(
            SessionSettings(session.configuration, responseSizeLimit: responseSizeLimit), sharing: session,
            timers: timers)
        entrance = Self.entrance(to: owner, session.configuration.httpMaximumConnectionsPerHost)
    }

    private static func entrance(to owner: SessionOwner, _ requestsPerHost: Int) -> Throttle {
        let entrance = Throttle(perHost: UInt(max(1, requestsPerHost)), timers: owner.timers)
        entrance.nextLoader = SessionTerminal(owner)
        return entrance
    }

    /// True: it completes every task itself.
    public override var isTerminal: Bool { true }

    /// Sends the request when there is a connection for it, and completes the task with its response or error.
    public override func load(task: HTTPTask) { entrance.load(task: task) }

    /// The throttle in which requests wait for a connection.
    public override var branches: [HTTPLoader] { [entrance] }

    /// The number of requests in flight, bodies that are still arriving included, and of those that wait for a connection.
    public override var details: String {
        let waiting = entrance.snapshot.total.waiting
        return "in flight \(owner.count)" + (waiting == 0 ? "" : ", waiting \(waiting)")
    }
}

/// Loads with the session what has got its connection.
private final class SessionTerminal: HTTPLoader, @unchecked Sendable {
    private let owner: SessionOwner

    init(_ owner: SessionOwner) { self.owner = owner }

    /// Errors name the loader that the program has made.
    override var name: String { "URLSessionLoader" }
    override var isTerminal: Bool { true }

    override func load(task: HTTPTask) {
        let exchange = Exchange(task, by: name, on: owner)
        guard owner.admit(exchange) else {
            fail(
                task, .resetInProgress,
                reason: "The loader is being reset; load the request again after the reset")
            return
        }
        task.addObserver(exchange)
        exchange.start()
    }

    /// Cancels everything in flight, and leaves the group when all of it has stopped.
    override func reset(with group: DispatchGroup) {
        owner.cancelAll(in: group)
        super.reset(with: group)
    }

    /// Takes tasks again, though some that it has cancelled have not stopped.
    override func resetTimedOut(with group: DispatchGroup) {
        owner.giveUp(group)
        super.resetTimedOut(with: group)
    }
}
