import LoaderChain
import LoaderChainTesting

/// How the clients of a fleet behave when a request fails.
enum FleetWay: String, CaseIterable {
    case bare = "no chain"
    case naive = "naive retry"
    case chain = "our chain"
    /// The chain with the delays that retries have by default: one of their own after throttling.
    case twoDelays = "default delays"
    /// The chain with one delay for all failures.
    case oneDelay = "one delay"

    /// The loaders of each client, which share one seeded generator, so that every run is the same.
    var loaders: (ManualTimers) -> HTTPLoader {
        let random = RandomSource(seed: 1)
        switch self {
        case .bare:
            return { _ in HTTPLoader() }
        case .naive:
            let strategy = Backoff.immediately(maximumNumberOfAttempts: 4)
            return { Retry(strategy, budget: .unlimited, timers: $0) }
        case .chain:
            return Self.chain(.exponential(delay: 10, maximumNumberOfAttempts: 3, random: random), random)
        case .twoDelays:
            return Self.chain(.exponential(random: random), random)
        case .oneDelay:
            return Self.chain(.exponential(delay: 0.5, throttledDelay: 0.5, random: random), random)
        }
    }

    /// The loaders of our chain with a strategy.
    private static func chain(_ strategy: Backoff, _ random: RandomSource) -> (ManualTimers) -> HTTPLoader {
        let settings = CircuitBreaker.Settings(
            minimumNumberOfCalls: 2, window: .seconds(15), openDuration: .seconds(10),
            maximumOpenDuration: .seconds(20))
        return { timers in
            Throttle(maximumNumberOfRequests: 2, timers: timers) --> Retry(strategy, timers: timers)
                --> CircuitBreaker(settings, timers: timers, random: random)
        }
    }
}
