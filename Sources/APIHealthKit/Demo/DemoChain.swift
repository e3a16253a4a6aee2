import Foundation
import LoaderChain
import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The demo's chain, with access to the loaders that report something.
final class DemoChain: Sendable {
    let head: HTTPLoader
    let throttle = Throttle(maximumNumberOfRequests: 16, perHost: 7)
    let retry: Retry
    let rateLimit: RateLimit
    let gateway: DemoGateway
    let terminal: URLSessionLoader
    let breaker: CircuitBreaker
    /// Metrics as callers see them, including queues and retries.
    let requests: MetricRecorder
    /// The same metrics, summed up per route.
    let board: MetricBoard
    /// Metrics of every attempt that reached the API.
    let attempts: MetricBoard
    let ledger = DemoLedger()

    init(port: Int, seed: UInt64, sink: any MetricSink, patience: Duration, timers: any Timers) {
        board = MetricBoard(timers: timers)
        attempts = MetricBoard(timers: timers)
        gateway = DemoGateway(port: port)
        terminal = URLSessionLoader(configuration: .ephemeral, timers: timers)
        requests = MetricRecorder(board, ledger, sink, capacity: SeveralSinks.capacity, timers: timers)
        let random = RandomSource(seed: seed)
        retry = Retry(
            strategy: Backoff.exponential(delay: 0.15, maximumNumberOfAttempts: 4, random: random),
            deadline: patience * 2,
            timers: timers)
        rateLimit = RateLimit(requests: 45, per: .seconds(1), burst: 6, perHost: true, timers: timers)
        // The defaults are too patient for a demo of ten seconds.
        let settings = CircuitBreaker.Settings(
            failureRatio: 0.75, minimumNumberOfCalls: 8, window: .seconds(5), openDuration: .milliseconds(1_200),
            maximumOpenDuration: .milliseconds(1_500))
        breaker = CircuitBreaker(settings, timers: timers, random: random, onChange: { [ledger] in ledger.note($0) })
        let environment = ServerEnvironment(scheme: "http", host: "shop.example", pathPrefix: "/v1")
        head =
            ResetGuard() --> Autocancel() --> ApplyEnvironment(environment: environment)
            --> MetricsTap(requests, module: "demo") --> throttle --> retry
            --> MetricsTap(MetricRecorder(attempts, timers: timers)) --> breaker --> rateLimit --> gateway --> terminal
    }
}
