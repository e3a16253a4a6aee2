// Session: what a session needs that knows no exchange: its settings, its queue and its deadlines. It may use Trust.

import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The settings of a loader, as taken from its session's configuration.
struct SessionSettings: @unchecked Sendable {
    // A private copy that never changes, which makes it safe to send.
    let configuration: URLSessionConfiguration
    /// Header fields for every request.
    ///
    /// The loader adds them, because the session would send them to the host of a redirect too.
    let headers: HTTPHeaders
    /// How long an exchange may be idle.
    let timeout: Duration
    /// How long an exchange may take in all.
    let resourceTimeout: Duration
    /// How long the session may take to end a task that was cancelled.
    let patience = Duration.seconds(1)
    let responseSizeLimit: Int
    let trust: SessionTrust
    /// Whether a proxy may answer in place of the origin.
    let mayTunnel: Bool

    init(
        _ configuration: URLSessionConfiguration, responseSizeLimit: Int, trust: SessionTrust = .system,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let copy = (configuration.copy() as? URLSessionConfiguration) ?? configuration
        headers = HTTPHeaders(
            (copy.httpAdditionalHeaders ?? [:]).compactMap { name, value in
                (name.base as? String).map { .init($0, "\(value)") }
            }.sorted { $0.name < $1.name })
        copy.httpAdditionalHeaders = nil
        // Requests wait before they come to the session, or their wait would be taken for the server's time.
        copy.httpMaximumConnectionsPerHost = 10_000
        // All sessions would share one jar, on Linux a file in the user's home that other users can read, and its cookies would
        // replace those of the request.
        copy.httpCookieStorage = nil
        copy.httpShouldSetCookies = false
        #if canImport(FoundationNetworking)
            mayTunnel = ProxyAnswer.isPossible(in: environment)
            // With a cache, the session traps if a task is cancelled as it ends.
            copy.urlCache = nil
            copy.urlCredentialStorage = nil
        #else
            mayTunnel = false
            trust.apply(to: copy)
        #endif
        timeout = .seconds(clamping: copy.timeoutIntervalForRequest)
        resourceTimeout = .seconds(clamping: copy.timeoutIntervalForResource)
        self.configuration = copy
        self.responseSizeLimit = max(0, responseSizeLimit)
        self.trust = trust
    }
}

extension Duration {
    /// Converts seconds as the platform gives them, limited to a year.
    fileprivate static func seconds(clamping seconds: Double) -> Duration {
        seconds.isNaN ? .seconds(60) : .seconds(min(max(seconds, 0), 365 * 86_400))
    }
}
