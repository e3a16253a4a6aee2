import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct TokenBucketTests {
    @Test func aTokenComesExactlyWhenItsTimeHasCome() {
        // Three a second: a third of a second is not a whole number of nanoseconds, and a token never comes too early.
        var bucket = TokenBucket(RateLimit.Rate(requests: 3, per: .seconds(1)), at: TimerInstant(nanoseconds: 0))
        var granted: [Int64] = []
        var now = TimerInstant(nanoseconds: 0)
        for _ in 0..<7 {
            let isGranted = bucket.take(at: now)
            #expect(isGranted)
            granted.append(now.nanoseconds)
            now = bucket.nextToken(at: now)
            let isEarly = bucket.take(at: TimerInstant(nanoseconds: now.nanoseconds - 1))
            #expect(!isEarly)
        }
        #expect(granted == (0..<7).map { $0 * 333_333_334 })
    }

    @Test(arguments: 0..<10) func noWindowHasMoreAndNoneIsRefusedForNothing(group: UInt64) {
        takeWalks(group: group, Self.walk)
    }

    /// Asks at random times.
    ///
    /// A token must go exactly if then no window that ends now has more than burst and rate allow.
    private static func walk(_ seed: UInt64) -> String? {
        var random = SeededGenerator(seed: seed)
        let rate = RateLimit.Rate(
            requests: Int.random(in: 1...20, using: &random),
            per: .nanoseconds(Int64.random(in: 1...5_000, using: &random)),
            burst: Int.random(in: 1...8, using: &random))
        var now = Int64.random(in: -10_000...10_000, using: &random)
        var bucket = TokenBucket(rate, at: TimerInstant(nanoseconds: now))
        var granted: [Int64] = []
        let typical = max(1, rate.nanosecondsPerPeriod / Int64(rate.requests))
        for step in 0..<50 {
            now +=
                Int64.random(in: 0...(2 * typical), using: &random)
                * (Int.random(in: 0..<8, using: &random) == 0 ? 9 : 1)
            let isAllowed = granted.indices.allSatisfy { first in
                let count = Int64(granted.count - first + 1 - rate.burst)
                return count * rate.nanosecondsPerPeriod <= Int64(rate.requests) * (now - granted[first])
            }
            let next = bucket.nextToken(at: TimerInstant(nanoseconds: now))
            guard (next.nanoseconds <= now) == isAllowed else {
                return "step \(step): the next token is due at \(next)"
            }
            // A clock that another thread has read a little earlier changes nothing.
            let late = TimerInstant(nanoseconds: now - Int64.random(in: 0...3, using: &random))
            guard bucket.take(at: late) == isAllowed else { return "step \(step): granted \(!isAllowed)" }
            if isAllowed { granted.append(now) }
        }
        return nil
    }

    @Test(arguments: 0..<10) func aChangedRateHoldsFromThenOn(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var now: Int64 = 0
        var rate = RateLimit.Rate(requests: 10, per: .seconds(1), burst: 3)
        var bucket = TokenBucket(rate, at: TimerInstant(nanoseconds: now))
        var tokens = 3.0
        for step in 0..<2_000 {
            let passed = Int64.random(in: 0...200_000_000, using: &random)
            now += passed
            tokens = min(
                Double(rate.burst), tokens + Double(passed) * Double(rate.requests) / (rate.period / .nanoseconds(1)))
            let instant = TimerInstant(nanoseconds: now)
            if step % 5 == 0 {
                rate = RateLimit.Rate(
                    requests: Int.random(in: 1...50, using: &random),
                    per: .milliseconds(Int.random(in: 1...3_000, using: &random)),
                    burst: Int.random(in: 1...5, using: &random))
                bucket.change(to: rate, at: instant)
                tokens = min(Double(rate.burst), tokens)
            }
            let isTaken = bucket.take(at: instant)
            if isTaken { tokens -= 1 }
            // Where the model says neither yes nor no for certain, rounding may decide.
            #expect(tokens > -1e-6 && (isTaken || tokens < 1 + 1e-6), "seed \(seed), step \(step): \(tokens)")
        }
    }

    @Test func ratesFromAfarDoNoHarm() {
        for (requests, period, burst) in [
            (0, Duration.zero, 0), (-1, .seconds(-1), -1), (.max, .seconds(Int64.max), .max),
        ] {
            let rate = RateLimit.Rate(requests: requests, per: period, burst: burst)
            var bucket = TokenBucket(rate, at: TimerInstant(nanoseconds: .min))
            let first = bucket.take(at: TimerInstant(nanoseconds: .min))
            bucket.change(
                to: RateLimit.Rate(requests: 1, per: .seconds(Int64.max)), at: TimerInstant(nanoseconds: .max))
            let second = bucket.take(at: TimerInstant(nanoseconds: .max))
            let next = bucket.nextToken(at: TimerInstant(nanoseconds: .max))
            #expect(first && second && next == TimerInstant(nanoseconds: .max))
        }
    }
}
