import LoaderChain
import LoaderChainTesting

/// How the clients of a fleet behave when a request fails.
enum FleetWay: String, CaseIterable {
    case bare = "no chain"
    case naive = "naive retry"
    case chain = "our chain"

    /// The loaders of each client.
    ///
    /// All share one seeded generator, so that every run is the same.
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
        }
    }

    /// The loaders of our chain with a strategy.
    static func chain(_ strategy: Backoff, _ random: RandomSource) -> (ManualTimers) -> HTTPLoader {
        let settings = CircuitBreaker.Settings(
            minimumNumberOfCalls: 2, window: .seconds(15), openDuration: .seconds(10),
            maximumOpenDuration: .seconds(20))
        return { timers in
            Throttle(maximumNumberOfRequests: 2, timers: timers) --> Retry(strategy, timers: timers)
                --> CircuitBreaker(settings, timers: timers, random: random)
        }
    }
}
