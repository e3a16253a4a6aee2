import BenchmarkSupport
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Whether a chain would have kept the article's server up.
@Suite(.timeLimit(.minutes(10))) struct OutageTests {
    private static var hasLinuxsMathematics: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    @Test func serverStaysDownWithoutChain() {
        let course = OutageSimulation().run()
        // Ten requests a second in the beginning, and two thousand a minute later.
        #expect(course.requests.first == 10 && course.peak == 2_010, "\(course.csv)")
        // The trouble is over in second 25; by then the app is the trouble.
        #expect(course.successes[10...].allSatisfy { $0 == 0 }, "\(course.csv)")
    }

    @Test func chainBoundsRequestsAndServerRecovers() {
        let course = OutageSimulation().run(through: Part.all.chain)
        // Ten requests a second in the beginning, and never more.
        #expect(course.requests.first == 10 && course.peak == 10, "\(course.csv)")
        // While it is out, the server is left in peace, but for a few attempts and a probe now and then.
        #expect(course.requests[10..<25].reduce(0, +) <= 12, "\(course.csv)")
        // Two seconds after the trouble every client is served again.
        #expect(course.successes[27...].allSatisfy { $0 == 10 }, "\(course.csv)")
    }

    @Test func adaptiveLimitSendsFewRequestsDuringOutage() {
        let course = OutageSimulation().run(through: Part.adaptive.chain)
        #expect(course.requests[10..<25].reduce(0, +) == 17, "\(course.csv)")
        #expect(course.peak == 16, "\(course.csv)")
    }

    @Test func simulationIsDeterministic() {
        #expect(
            OutageSimulation().run(through: Part.all.chain).csv == OutageSimulation().run(through: Part.all.chain).csv)
    }

    /// The curves are those of Linux: the last digits of a logarithm may be others elsewhere.
    ///
    /// With `OUTAGE_CURVES=write` in the environment the curves are drawn anew, along with the table that they show.
    @Test(.enabled(if: Self.hasLinuxsMathematics)) func guideMatchesSimulation() throws {
        let outage = OutageSimulation()
        let curves = OutageCurves(
            outage,
            [
                ("without the chain", outage.run()), ("with it", outage.run(through: Part.all.chain)),
                ("an adaptive limit alone", outage.run(through: Part.adaptive.chain)),
                ("a throttle that sheds", outage.run(through: Part.shedding.chain)),
            ])
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/Outage").standardizedFileURL
        for (name, drawn) in [
            ("requests.svg", curves.requests.svg()), ("answers.svg", curves.answers.svg()), ("course.csv", curves.csv),
        ] {
            let file = folder.appending(path: name)
            if ProcessInfo.processInfo.environment["OUTAGE_CURVES"] == "write" {
                try Data(drawn.utf8).write(to: file)
            }
            let shown = try String(contentsOf: file, encoding: .utf8)
            #expect(shown == drawn, "\(name) shows something else; OUTAGE_CURVES=write draws it anew")
        }
    }

    /// What the guide says of each loader by itself: the most requests in a second, and from when all are served again.
    @Test(arguments: [
        (Part.nothing, 2_010, nil), (.retryWithoutBudget, 1_062, nil), (.retry, 1_377, nil), (.throttle, 20, 28),
        (.adaptive, 16, 28), (.shedding, 18, 28), (.breaker, 21, 26), (.all, 10, 27),
    ])
    func eachPartHasExpectedPeakAndRecovery(part: Part, peak: Int, servedFrom: Int?) {
        let course = OutageSimulation().run(through: part.chain)
        let lastFailure = course.successes.lastIndex { $0 < 10 } ?? 0
        #expect(course.peak == peak, "\(course.csv)")
        #expect(lastFailure == (servedFrom ?? 60) - 1, "\(course.csv)")
    }

    enum Part {
        case nothing, retryWithoutBudget, retry, throttle, adaptive, shedding, breaker, all

        @Sendable func chain(_ timers: ManualTimers) -> HTTPLoader {
            switch self {
            case .nothing: HTTPLoader()
            case .retryWithoutBudget: retry(timers, RetryBudget.unlimited)
            case .retry: retry(timers)
            case .throttle: throttle(timers)
            case .adaptive: Throttle(limit: .adaptive(), timers: timers)
            case .shedding:
                Throttle(limit: 4, overload: ThrottleOverload(target: .milliseconds(500)), timers: timers)
            case .breaker: breaker(timers)
            case .all: throttle(timers) --> retry(timers) --> breaker(timers)
            }
        }

        private func throttle(_ timers: ManualTimers) -> Throttle {
            Throttle(maximumNumberOfRequests: 4, timers: timers)
        }

        private func retry(_ timers: ManualTimers, _ budget: RetryBudget? = nil) -> Retry {
            let strategy = Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 3, random: RandomSource(seed: 1))
            return Retry(strategy, budget: budget, timers: timers)
        }

        private func breaker(_ timers: ManualTimers) -> CircuitBreaker {
            let settings = CircuitBreaker.Settings(
                minimumNumberOfCalls: 5, window: .seconds(5), openDuration: .seconds(3),
                maximumOpenDuration: .seconds(12))
            return CircuitBreaker(settings, timers: timers, random: RandomSource(seed: 2))
        }
    }
}
