// LoaderChainURLSession: the terminal over a URLSession. URLSessionLoader is the public type; the SessionTransport
// holds the session, whose delegate passes events to a SessionTransfer for each request; the other files convert requests, responses
// and errors.

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
/// **Responses.** By default a response is delivered in memory, whatever its status; a response that exceeds the size limit fails
/// as soon as its size is known. A request changes this with its options: `HTTPRequest.delivery` for a body in chunks or in a
/// file, `HTTPRequest.redirects`, `HTTPRequest.timeout`, `HTTPRequest.onProgress`, `HTTPRequest.cachePolicy` and
/// `HTTPRequest.networkAccess`.
///
/// **Methods.** The session sends `get`, `post` and the like in upper case, which are different methods. A request whose method it
/// would change fails with `HTTPError.Code.invalidRequest`, and nothing is sent.
///
/// **Credentials.** A session of the loader's own never answers a challenge for a password: the 401 is the response, and
/// `BasicAuth` handles it. Credentials do not follow a redirect to another host, scheme or port.
///
/// **Cookies.** The loader stores no cookies, and sends only those of the request's `Cookie` header. A `KeepCookies` before it
/// stores them in a jar of your own, including those of redirects.
///
/// **Connections.** The loader has up to 64 requests to one host in flight; further requests wait in a queue, by their priority.
/// This is a wait like that in a `Throttle`: a tap measures it, and no timeout includes it. With the session's own limit, of six
/// connections per host, requests would wait unseen. A body in chunks that is still being read does not count.
///
/// **Lifetime.** The loader creates one session, and invalidates it when the loader is released and nothing is in flight. A
/// reset cancels everything in flight, including bodies that are still arriving, waits until it has stopped, and empties the
/// configuration's cache, by default `URLCache.shared`: on an Apple system it may hold responses for the user who was signed in.
public final class URLSessionLoader: HTTPLoader, @unchecked Sendable {
    /// The default size limit for a response in memory: 64 MiB.
    public static let defaultResponseSizeLimit = 64 << 20

    let owner: ExchangeOwner
    /// The queue of requests that wait for a connection.
    private let entrance: Throttle

    /// Creates a loader with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of the session, which is copied. The loader applies its timeouts and header
    ///     fields itself, so that credentials among them do not follow a redirect to another host. Its limit of connections
    ///     and its cookie storage are not used; on Linux its cache and its credential storage are not used either. The time in
    ///     which it waits for connectivity counts as idle: let a `WaitForNetwork` wait instead.
    ///   - requestsPerHost: the maximum number of requests in flight to one host, at least 1. With HTTP/1, each needs a
    ///     connection.
    ///   - responseSizeLimit: the maximum size in bytes of a response in memory, for requests without a limit of their own.
    ///   - timers: the clock of the timeouts.
    public init(
        configuration: URLSessionConfiguration = .default, requestsPerHost: Int = 64,
        responseSizeLimit: Int = defaultResponseSizeLimit, timers: any Timers = SystemTimers.shared
    ) {
        owner = Self.owner(SessionSettings(configuration), responseSizeLimit, timers: timers)
        entrance = Self.entrance(to: owner, requestsPerHost)
    }

    /// Creates a loader with a session of its own, and with options for its secure connections.
    ///
    /// On Apple systems, all options except a client certificate as PEM are supported. On Linux, the session has no such
    /// settings, so only the default options are accepted. The other parameters are those of
    /// ``init(configuration:requestsPerHost:responseSizeLimit:timers:)``.
    ///
    /// - Throws: an error if the system's session does not support the options, or if they are invalid.
    public init(
        tls: TLSOptions, configuration: URLSessionConfiguration = .default, requestsPerHost: Int = 64,
        responseSizeLimit: Int = defaultResponseSizeLimit, timers: any Timers = SystemTimers.shared
    ) throws(TLSOptions.Refused) {
        let trust = try SessionTrust(tls)
        owner = Self.owner(SessionSettings(configuration, trust: trust), responseSizeLimit, timers: timers)
        entrance = Self.entrance(to: owner, requestsPerHost)
    }

    /// Creates a loader that uses your session.
    ///
    /// On Apple systems the requests run in your session, and share its connections and cache with its other requests, but not
    /// its cookies. Its delegate decides whom to trust, and like its credential storage, it answers challenges for passwords; set
    /// the configuration's `urlCredentialStorage` to nil for a `BasicAuth`. If the configuration's `httpAdditionalHeaders` have a
    /// secret, such as `Authorization`, a redirect to another server fails with `HTTPError.Code.invalidRequest`, because the session
    /// would send the secret there.
    ///
    /// You still own the session: invalidate it only after a reset of the loader has ended, because a task that is begun later, such
    /// as that of a redirect, would end the app. On other systems a session cannot be shared, and the loader creates its own with
    /// the same configuration.
    /// The limit of requests in flight to one host is the configuration's limit of connections.
    ///
    /// - Parameters:
    ///   - session: the session; it must not be a background session.
    ///   - responseSizeLimit: the maximum size in bytes of a response in memory, for requests without a limit of their own.
    ///   - timers: the clock of the timeouts.
    public init(
        session: URLSession, responseSizeLimit: Int = defaultResponseSizeLimit,
        timers: any Timers = SystemTimers.shared
    ) {
        owner = Self.owner(
            SessionSettings(session.configuration), responseSizeLimit, sharing: session, timers: timers)
        entrance = Self.entrance(to: owner, session.configuration.httpMaximumConnectionsPerHost)
    }

    private static func owner(
        _ settings: SessionSettings, _ responseSizeLimit: Int, sharing shared: URLSession? = nil, timers: any Timers
    ) -> ExchangeOwner {
        ExchangeOwner(
            .init(
                headers: settings.headers, timeout: settings.timeout, resourceTimeout: settings.resourceTimeout,
                nameOfResourceTimeout: "timeoutIntervalForResource", responseSizeLimit: responseSizeLimit),
            over: SessionTransport(settings, sharing: shared, timers: timers), timers: timers)
    }

    private static func entrance(to owner: ExchangeOwner, _ requestsPerHost: Int) -> Throttle {
        ExchangeTerminal.entrance("URLSessionLoader", to: owner, requestsPerHost)
    }

    public override var isTerminal: Bool { true }

    public override func load(task: HTTPTask) { entrance.load(task: task) }

    /// The throttle in which requests wait for a connection.
    public override var branches: [HTTPLoader] { [entrance] }

    /// The number of requests in flight, including bodies that are still arriving, and of requests that wait for a connection.
    public override var details: String { owner.details(waiting: entrance.snapshot.total.waiting) }
}
