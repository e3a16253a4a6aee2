import Dispatch
import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// Settings come from remote configurations and from arithmetic: no number traps, and every task still ends.
@Suite(.timeLimit(.minutes(10))) struct AbsurdSettingsTests {
    @Test(arguments: Numbers.durations) func throttleAcceptsAnyTimeAndCount(duration: Duration) {
        let timers = ManualTimers()
        for count in Numbers.integers {
            let limit = UInt(bitPattern: count)
            let throttle = Throttle(
                maximumNumberOfRequests: limit, perHost: limit, maximumWaiting: count, queueTimeout: duration,
                patience: duration, timers: timers)
            exercise(throttle, timers)
            throttle.maximumNumberOfRequests = 1
            throttle.perHost = nil
            exercise(Throttle(queueTimeout: duration, timers: timers), timers)
            exercise(Throttle(maximumNumberOfRequests: 0, patience: duration, timers: timers), timers)
        }
    }

    @Test(arguments: Numbers.durations) func rateLimitAcceptsAnyRate(duration: Duration) {
        let timers = ManualTimers()
        for count in Numbers.integers {
            for burst in Numbers.integers {
                let limit = RateLimit(
                    requests: count, per: duration, burst: burst, perHost: true, maximumWaiting: count, timers: timers)
                exercise(limit, timers)
                limit.rates = [RateLimit.Rate(requests: burst, per: duration, burst: count)]
                exercise(RateLimit(limit.rates, maximumWaiting: 0, timers: timers), timers)
            }
        }
    }

    @Test(arguments: Numbers.durations) func retryAcceptsAnyDeadlineAndDelay(duration: Duration) {
        let timers = ManualTimers()
        for count in Numbers.integers {
            for number in Numbers.doubles {
                let budget = RetryBudget(ratio: number, minimumPerSecond: count, window: duration, timers: timers)
                for strategy in strategies(number, count) {
                    exercise(
                        Retry(
                            strategy, totalTimeout: duration, maximumRetryAfter: duration, budget: budget,
                            timers: timers), timers)
                    #expect(budget.remaining ?? 0 >= 0)
                }
            }
        }
        exercise(Retry(Own(delay: 1), totalTimeout: duration, timers: timers), timers)
        exercise(
            Retry(Own(delay: 1), maximumRetryAfter: duration, budget: .unlimited, timers: timers), timers)
        exercise(Retry(nil, timers: timers), timers) {
            $0.totalTimeout = duration
            $0.retryStrategy = Own(delay: .nan)
        }
    }

    private func strategies(_ number: Double, _ count: Int) -> [any HTTPRetryStrategy] {
        [
            Backoff.exponential(
                delay: number, maximumNumberOfAttempts: count, maximumDelay: number, random: RandomSource(seed: 1)),
            Backoff.exponential(
                delay: 1, maximumNumberOfAttempts: 3, maximumDelay: number, random: RandomSource(seed: 1)),
            Backoff.constant(delay: number, maximumNumberOfAttempts: count == .max ? 3 : count),
            Backoff.immediately(maximumNumberOfAttempts: count == .max ? 3 : count),
            Own(delay: number),
        ]
    }

    @Test(arguments: Numbers.durations) func circuitBreakerAcceptsAnySettings(duration: Duration) {
        let timers = ManualTimers()
        for number in Numbers.doubles {
            for count in Numbers.integers {
                for other in [duration, .seconds(1)] {
                    let settings = CircuitBreaker.Settings(
                        failureRatio: number, minimumNumberOfCalls: count, window: other, openDuration: duration,
                        maximumOpenDuration: duration, jitter: number, probes: count)
                    exercise(CircuitBreaker(settings, timers: timers, random: RandomSource(seed: 1)), timers)
                }
            }
            var settings = CircuitBreaker.Settings(minimumNumberOfCalls: 1)
            settings.jitter = number
            settings.maximumOpenDuration = duration
            exercise(
                CircuitBreaker(settings, perHost: false, timers: timers, random: RandomSource(seed: 1)), timers)
            settings.openDuration = duration
            exercise(
                CircuitBreaker(settings, perHost: false, timers: timers, random: RandomSource(seed: 1)), timers)
        }
    }

    @Test(arguments: Numbers.durations) func metricsAcceptAnyWindowCapacityAndShare(duration: Duration) async {
        let timers = ManualTimers()
        for count in Numbers.integers {
            let board = MetricBoard(maximumNumberOfRows: count, window: duration, timers: timers)
            exercise(MetricsTap(MetricRecorder(board, timers: timers)), timers)
            _ = (board.description, board.total, board.rows)
            for number in Numbers.doubles {
                let recorder = MetricRecorder(
                    ClosureSink { _ in }, board, MetricStream(capacity: count), samplingRate: number, capacity: count,
                    random: RandomSource(seed: 1), timers: timers)
                exercise(MetricsTap(recorder), timers)
                let trace = recorder.startTrace("trace")
                trace.increment("counter", by: Int64(count))
                trace.increment("counter", by: Int64(count))
                trace.stop()
                _ = board.total.latency.quantile(number)
            }
        }
        var histogram = LatencyHistogram()
        histogram.record(duration)
        histogram.record(duration)
        _ = (histogram.mean, histogram.minimum, histogram.maximum, histogram.quantile(0.5))
    }

    @Test(arguments: Numbers.durations) func bearerAuthAcceptsAnyLeewayAndLifetime(duration: Duration) async {
        for lifetime in Numbers.durations {
            let timers = ManualTimers()
            let source = Tokens(lifetime: lifetime)
            let loader = BearerAuth(hosts: ["example.com"], source: source, leeway: duration, timers: timers)
            let chain = loader --> Moody()
            for _ in 0..<2 {
                _ = try? await chain.load(HTTPRequest(host: "example.com", path: "/"))
                timers.advance(by: .seconds(1))
            }
            _ = loader.description
        }
    }

    @Test(arguments: Numbers.integers) func printLoaderAndEnvironmentAcceptAnyNumber(count: Int) {
        let timers = ManualTimers()
        exercise(PrintLoader(bodyLimit: count, timers: timers, output: { _ in }), timers) {
            $0.method = .post
            $0.body = DataBody(Data([1, 2, 3]))
        }
        let environment = ServerEnvironment(host: "example.com", port: count)
        exercise(ApplyEnvironment(environment: environment), timers) { $0.host = nil }
        exercise(Autocancel() --> Deduplicate() --> ResetGuard(), timers)
    }

    @Test(arguments: Numbers.durations) func timersAcceptAnyTime(duration: Duration) async {
        let manual = ManualTimers()
        for timers in [manual, SystemTimers()] as [any Timers] {
            timers.schedule(after: duration) {}
            timers.schedule(at: timers.now.advanced(by: duration).advanced(by: duration)) {}
            _ = timers.now.duration(to: timers.now.advanced(by: duration))
        }
        manual.advance(by: duration)
        manual.runAll()
        manual.stepDate(by: duration)
        _ = manual.date
    }

    @Test func loadersCompleteTasksAtLastInstant() {
        let timers = ManualTimers()
        timers.advance(by: .seconds(Int64.max))
        #expect(timers.now == TimerInstant(nanoseconds: .max))
        let strategy = Backoff.constant(delay: 1, maximumNumberOfAttempts: 2)
        let settings = CircuitBreaker.Settings(minimumNumberOfCalls: 1)
        exercise(Throttle(maximumNumberOfRequests: 1, queueTimeout: .seconds(1), timers: timers), timers)
        exercise(Retry(strategy, totalTimeout: .seconds(2), timers: timers), timers)
        exercise(CircuitBreaker(settings, timers: timers, random: RandomSource(seed: 1)), timers)
        exercise(RateLimit(requests: 10, per: .seconds(1), burst: 10, timers: timers), timers)
        exercise(MetricsTap(MetricRecorder(MetricBoard(timers: timers), timers: timers)), timers)
    }

    /// Loads requests whose results vary, lets time pass up to its end, and resets the chain.
    private func exercise(
        _ loader: HTTPLoader, _ timers: ManualTimers, _ change: (inout HTTPRequest) -> Void = { _ in }
    ) {
        let chain = loader --> Moody()
        let ended = Locked(0)
        var request = HTTPRequest(host: "example.com", path: "/")
        change(&request)
        for _ in 0..<4 { chain.load(request: request) { _ in ended.withLock { $0 += 1 } } }
        timers.advance(by: .milliseconds(1))
        for _ in 0..<2 { chain.load(request: request) { _ in ended.withLock { $0 += 1 } } }
        for _ in 0..<3 { timers.advance(by: .seconds(1)) }
        for _ in 0..<2 { chain.load(request: request) { _ in ended.withLock { $0 += 1 } } }
        _ = chain.description
        let group = DispatchGroup()
        chain.reset(with: group)
        #expect(group.wait(timeout: .patient) == .success)
        #expect(ended.withLock { $0 } == 8, "\(chain)")
    }
}

/// Numbers that no setting is meant for.
private enum Numbers {
    static let integers: [Int] = [.min, -1, 0, 1, .max]
    static let doubles: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -1, 0, .leastNonzeroMagnitude, 1e-17, 0.5, .greatestFiniteMagnitude,
        .infinity,
        .nan,
    ]
    static let durations: [Duration] = [
        Duration(attoseconds: .min), .seconds(Int64.min), .seconds(-1), .zero, Duration(attoseconds: 1),
        .nanoseconds(1), .seconds(12.345),
        .seconds(Int64.max), Duration(attoseconds: .max),
    ]
}

/// Fails, asks for patience, and succeeds, in turn.
private final class Moody: HTTPLoader, @unchecked Sendable {
    private let count = Locked(0)

    override func load(task: HTTPTask) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        switch number % 4 {
        case 0: task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
        case 1: task.complete(.success(HTTPResponse(request: task.request, status: .internalServerError)))
        case 2:
            let headers: HTTPHeaders = ["Retry-After": "99999999999999999999"]
            task.complete(
                .success(HTTPResponse(request: task.request, status: .serviceUnavailable, headers: headers)))
        default: fail(task, .timedOut)
        }
    }
}

/// Wants two more attempts after a delay.
private struct Own: HTTPRetryStrategy {
    let delay: Double

    func retryDelay(for result: HTTPResult) -> Double? { result.attempts < 3 ? delay : nil }
}

private struct Tokens: TokenSource {
    let lifetime: Duration

    func token(replacing old: BearerToken?, using chain: Next) async throws -> BearerToken {
        BearerToken(accessToken: "token", lifetime: lifetime)
    }
}
