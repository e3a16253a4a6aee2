import Foundation
import LoaderChain
import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The chain for checks.
struct WatchChain: Sendable {
    let head: HTTPLoader
    let metrics: MetricRecorder

    init(
        _ arguments: WatchArguments, sink: any MetricSink, timers: any Timers, terminal: HTTPLoader? = nil
    ) {
        metrics = MetricRecorder(sink, capacity: SeveralSinks.capacity, timers: timers)
        let throttle = Throttle(maximumNumberOfRequests: UInt(arguments.concurrency), timers: timers)
        let strategy = Backoff.exponential(delay: 0.2, maximumNumberOfAttempts: 1 + arguments.retries, maximumDelay: 5)
        let retry = Retry(strategy: strategy, deadline: arguments.timeout, budget: .unlimited, timers: timers)
        let end = terminal ?? Self.network(arguments, timers)
        head =
            ResetGuard() --> Autocancel() --> MetricsTap(metrics, module: "apihealth") --> throttle
            --> CheckTimer(timers: timers) --> retry --> end
    }

    private static func network(_ arguments: WatchArguments, _ timers: any Timers) -> HTTPLoader {
        let configuration = URLSessionConfiguration.ephemeral
        // A check is about the server, not about a cache.
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        return URLSessionLoader(
            configuration: configuration, requestsPerHost: arguments.concurrency, timers: timers)
    }
}
