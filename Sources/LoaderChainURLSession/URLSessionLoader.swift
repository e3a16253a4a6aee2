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
/// **Credentials.** The session never answers a challenge for a password: the 401 is the response, and `BasicAuth` is the
/// loader that handles it. Credentials do not follow a redirect to another host, scheme or port.
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
    ///     fields itself, so that credentials among them do not follow a redirect to another host. On Linux its cache and
    ///     its credential storage are not used.
    ///   - responseSizeLimit: the most bytes of a response in memory, for requests that set no limit of their own.
    ///   - serverTrust: which servers are trusted.
    ///   - timers: the clock of the timeouts.
    public init(
        configuration: URLSessionConfiguration = .default, responseSizeLimit: Int = defaultResponseSizeLimit,
        serverTrust: ServerTrust = .platform, timers: any Timers = SystemTimers.shared
    ) {
        owner = SessionOwner(
            SessionSettings(configuration, responseSizeLimit: responseSizeLimit, serverTrust: serverTrust),
            timers: timers)
    }

    /// Makes a loader that uses your session.
    ///
    /// On Apple systems the requests run in your session, and share its connections, cookies and cache with everything else
    /// it does. It stays yours: invalidate it after the loader is gone. On other systems a session cannot be shared, and
    /// the loader makes its own with the same configuration.
    ///
    /// - Parameters:
    ///   - session: the session; it must not be a background session.
    ///   - responseSizeLimit: the most bytes of a response in memory, for requests that set no limit of their own.
    ///   - serverTrust: which servers are trusted.
    ///   - timers: the clock of the timeouts.
    public init(
        session: URLSession, responseSizeLimit: Int = defaultResponseSizeLimit, serverTrust: ServerTrust = .platform,
        timers: any Timers = SystemTimers.shared
    ) {
        owner = SessionOwner(
            SessionSettings(
                session.configuration, responseSizeLimit: responseSizeLimit, serverTrust: serverTrust),
            sharing: session, timers: timers)
    }

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
