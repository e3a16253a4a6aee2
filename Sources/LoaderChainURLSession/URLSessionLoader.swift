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
/// **Lifetime.** The loader makes one session, and invalidates it when the loader is released and nothing is in flight. A
/// reset cancels everything in flight, bodies that are still arriving included, and waits until it has stopped.
public final class URLSessionLoader: HTTPLoader, @unchecked Sendable {
    /// The default limit of a response in memory: 64 MiB.
    public static let defaultResponseSizeLimit = 64 << 20

    let owner: SessionOwner

    /// Makes a loader with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the session, which is copied. The loader applies its timeouts and header
    ///     fields itself, so that credentials among them do not follow a redirect to another host. Its cookie
    ///     storage is not used; on Linux neither are its cache and its credential storage.
    ///   - responseSizeLimit: the most bytes of a response in memory, for requests that set no limit of their own.
    ///   - timers: the clock of the timeouts.
    public init(
        configuration: URLSessionConfiguration = .default, responseSizeLimit: Int = defaultResponseSizeLimit,
        timers: any Timers = SystemTimers.shared
    ) {
        owner = SessionOwner(SessionSettings(configuration, responseSizeLimit: responseSizeLimit), timers: timers)
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
    ///   - configuration: the configuration of the session, as in ``init(configuration:responseSizeLimit:timers:)``.
    ///   - responseSizeLimit: the most bytes of a response in memory, for requests that set no limit of their own.
    ///   - timers: the clock of the timeouts.
    /// - Throws: what the system's session cannot do, or what is wrong with the options.
    public init(
        tls: TLSOptions, configuration: URLSessionConfiguration = .default,
        responseSizeLimit: Int = defaultResponseSizeLimit, timers: any Timers = SystemTimers.shared
    ) throws(TLSOptions.Refused) {
        let trust = try SessionTrust(tls)
        owner = SessionOwner(
            SessionSettings(configuration, responseSizeLimit: responseSizeLimit, trust: trust), timers: timers)
    }

    /// Makes a loader that uses your session.
    ///
    /// On Apple systems the requests run in your session, and share its connections and cache with everything else it does, but
    /// not its cookies. Secure connections are its own business, too. It stays yours: invalidate it after the loader is gone. On other systems a session cannot be shared, and
    /// the loader makes its own with the same configuration.
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
    }

    /// True: it completes every task itself.
    public override var isTerminal: Bool { true }

    /// Sends the request, and completes the task with its response or error.
    public override func load(task: HTTPTask) {
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
    public override func reset(with group: DispatchGroup) {
        owner.cancelAll(in: group)
        super.reset(with: group)
    }

    /// Takes tasks again, though some that it has cancelled have not stopped.
    public override func resetTimedOut(with group: DispatchGroup) {
        owner.giveUp(group)
        super.resetTimedOut(with: group)
    }

    /// The number of requests in flight, bodies that are still arriving included.
    public override var details: String { "in flight \(owner.count)" }
}
