import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The end of a chain: it loads requests over a `URLSession`.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> throttle --> URLSessionLoader()
/// let response = try await chain.load(HTTPRequest(url: url))
/// ```
///
/// **What it does.** A response is delivered whole, in memory, whatever its status; one that is larger than the limit is
/// refused as soon as that is known. A request asks for something else by its options: `HTTPRequest.delivery`
/// for the body as it arrives or in a file, `HTTPRequest.redirects`, `HTTPRequest.timeout`,
/// `HTTPRequest.onProgress`, `HTTPRequest.cachePolicy` and
/// `HTTPRequest.networkAccess`.
///
/// **What it keeps away.** A challenge for a password is never answered: the 401 is the response, and `BasicAuth` is the
/// loader that deals with it. Credentials do not follow a redirect to another host, scheme or port.
///
/// **How long it lives.** It makes one session and ends it with itself, once nothing is in flight. A reset cancels what is
/// in flight and waits until it has stopped, bodies that are still arriving included.
public final class URLSessionLoader: HTTPLoader, @unchecked Sendable {
    /// How many bytes of a response are kept in memory, unless the request or the loader says otherwise: 64 MiB.
    public static let defaultResponseSizeLimit = 64 << 20

    let host: SessionHost

    /// Makes a loader with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: what the session is like; it is copied. Its timeouts and header fields are applied by the
    ///     loader, so that its fields do not follow a redirect where they must not. On Linux its cache and its credential
    ///     storage are left out.
    ///   - responseSizeLimit: how many bytes of a response are kept in memory for a request that does not say it itself.
    ///   - serverTrust: which servers are trusted.
    ///   - timers: what the timeouts are measured by.
    public init(
        configuration: URLSessionConfiguration = .default, responseSizeLimit: Int = defaultResponseSizeLimit,
        serverTrust: ServerTrust = .platform, timers: any Timers = SystemTimers.shared
    ) {
        host = SessionHost(
            SessionSettings(configuration, responseSizeLimit: responseSizeLimit, serverTrust: serverTrust),
            timers: timers)
    }

    /// Makes a loader that goes by a session of yours.
    ///
    /// On Apple systems the requests run in that very session, beside whatever else it does, and its connections, cookies
    /// and cache are shared. It stays yours: end it after the loader. Elsewhere a session cannot be shared, and the loader
    /// makes one of the same configuration.
    ///
    /// - Parameters:
    ///   - session: the session, which is not a background session.
    ///   - responseSizeLimit: how many bytes of a response are kept in memory for a request that does not say it itself.
    ///   - serverTrust: which servers are trusted.
    ///   - timers: what the timeouts are measured by.
    public init(
        session: URLSession, responseSizeLimit: Int = defaultResponseSizeLimit, serverTrust: ServerTrust = .platform,
        timers: any Timers = SystemTimers.shared
    ) {
        host = SessionHost(
            SessionSettings(
                session.configuration, responseSizeLimit: responseSizeLimit, serverTrust: serverTrust),
            sharing: session, timers: timers)
    }

    /// Sends the request, and completes the task with what comes of it.
    public override func load(task: HTTPTask) {
        let exchange = Exchange(task, by: name, on: host)
        guard host.admit(exchange) else {
            fail(
                task, .resetInProgress,
                reason: "What was in flight is being cancelled; load it again after the reset")
            return
        }
        task.addObserver(exchange)
        exchange.start()
    }

    /// Cancels what is in flight, and finishes when all of it has stopped.
    public override func reset(with group: DispatchGroup) {
        host.cancelAll(in: group)
        super.reset(with: group)
    }

    /// How many requests are in flight, bodies that are still arriving included.
    public override var details: String { "in flight \(host.count)" }
}
