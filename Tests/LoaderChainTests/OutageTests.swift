import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Whether a chain would have kept the article's server up.
@Suite struct OutageTests {
    @Test func withoutTheChainTheBugBringsTheServerDownForGood() {
        let course = OutageSimulation().run()
        // Ten requests a second in the beginning, and two thousand a minute later.
        #expect(course.requests.first == 10 && course.peak == 2_010, "\(course.csv)")
        // The trouble is over in second 25; by then the app is the trouble.
        #expect(course.successes[10...].allSatisfy { $0 == 0 }, "\(course.csv)")
    }

    @Test func withTheChainTheSameAppStaysWithinBounds() {
        let course = OutageSimulation().run(through: Self.chain)
        // Ten requests a second in the beginning, and never more.
        #expect(course.requests.first == 10 && course.peak == 10, "\(course.csv)")
        // While it is out, the server is left in peace, but for a few attempts and a probe now and then.
        #expect(course.requests[10..<25].reduce(0, +) <= 12, "\(course.csv)")
        // Two seconds after the trouble everybody is served again.
        #expect(course.successes[27...].allSatisfy { $0 == 10 }, "\(course.csv)")
    }

    @Test func theSameCourseEachTime() {
        #expect(OutageSimulation().run(through: Self.chain).csv == OutageSimulation().run(through: Self.chain).csv)
    }

    /// A limit on how many run, a breaker, and retries within their budget.
    private static func chain(_ timers: ManualTimers) -> HTTPLoader {
        let strategy = Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 3, dice: Dice(seed: 1))
        let settings = CircuitBreaker.Settings(
            minimumNumberOfCalls: 5, window: .seconds(5), openDuration: .seconds(3), maximumOpenDuration: .seconds(12))
        return Throttle(maximumNumberOfRequests: 4, timers: timers)
            --> Retry(strategy: strategy, timers: timers)
            --> CircuitBreaker(settings, timers: timers, dice: Dice(seed: 2))
    }
}
