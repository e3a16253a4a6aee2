import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The search for a limit, with times that a test says.
@Suite(.timeLimit(.minutes(10))) struct AdaptiveLimitStateTests {
    // MARK: Refusals

    @Test func burstOfRefusalsLowersLimitOnce() {
        var server = FixedServer(AdaptiveLimit(initial: 20))
        let periods = (0..<20).map { _ in server.state.begin() }
        for period in periods { server.state.end(.pushedBack, of: period, at: 1) }
        #expect(server.state.current == 16)
        #expect(server.state.reason == .pushedBack)
        // What is sent now says something about the new limit.
        let later = server.state.begin()
        server.state.end(.pushedBack, of: later, at: 2)
        #expect(server.state.current == 13)
    }

    @Test func burstCountsOnceWhenRoundedLimitIsUnchanged() {
        var state = CountedLimit(AdaptiveLimit(initial: 2))
        let periods = (0..<9).map { _ in state.begin() }
        for period in periods { state.end(.pushedBack, of: period, at: 1) }
        #expect(state.limit == 1.6)
    }

    @Test func limitFallsToMinimumAndRecovers() {
        var server = FixedServer(AdaptiveLimit(initial: 50, minimum: 2))
        for _ in 0..<40 {
            let period = server.state.begin()
            server.state.end(.pushedBack, of: period, at: server.now)
        }
        #expect(server.state.current == 2)
        server.serve(capacity: 50, rounds: 80)
        #expect((45...75).contains(server.state.limit), "\(server.state.limit), \(server.state.phase)")
    }

    // MARK: Times

    @Test(arguments: [5, 20, 40])
    func limitFindsCapacityAndStays(capacity: Int) {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: capacity, rounds: 100)
        #expect(server.state.limit >= 0.95 * Double(capacity), "\(server.state.limit)")
        #expect(server.state.limit <= 1.6 * Double(capacity), "\(server.state.limit)")
    }

    @Test func measuringKeepsHalfTheLimitForASixthOfTheTime() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 40, rounds: 200)
        let start = server.now
        var measuring = 0.0
        for _ in 0..<2_000 {
            let before = (now: server.now, current: server.state.current, limit: server.state.limit)
            let isMeasuring = server.state.phase == .measuring
            server.serve(capacity: 40, rounds: 1)
            guard isMeasuring else { continue }
            measuring += server.now - before.now
            #expect(before.current >= Int(before.limit / 2) && before.current <= 40)
        }
        let share = measuring / (server.now - start)
        #expect((0.1...0.2).contains(share), "\(share)")
        #expect(server.state.service.map { abs($0.mean - 0.1) < 0.005 } == true)
    }

    @Test func slowerServiceIsLearnedButQueueDelayIsNot() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 20, rounds: 200)
        // A quarter of the capacity is left: responses become as late, but with less sent they are as soon as before.
        server.serve(capacity: 5, rounds: 300)
        #expect(server.state.service.map { $0.mean < 0.12 } == true)
        #expect((5...9).contains(server.state.limit), "\(server.state.limit)")
        for _ in 0..<2_000 {
            let periods = (0..<server.state.current).map { _ in server.state.begin() }
            server.now += 0.5
            for period in periods { server.state.end(.served(after: 0.5), of: period, at: server.now) }
        }
        #expect(server.state.service.map { abs($0.mean - 0.5) < 0.01 } == true)
        #expect(server.state.limit > 20)
    }

    @Test func unreachedLimitDoesNotRise() {
        var server = FixedServer(AdaptiveLimit(initial: 20))
        server.serve(capacity: 1_000, rounds: 200, mostAtOnce: 19)
        #expect(server.state.current == 20)
        #expect(server.state.reason == nil)
    }

    @Test func quietHourDoesNotChangeLimit() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 20, rounds: 100)
        server.serve(capacity: 20, rounds: 10, mostAtOnce: 2)
        let (limit, current) = (server.state.limit, server.state.current)
        server.now += 3_600
        server.serve(capacity: 20, rounds: 500, mostAtOnce: 2)
        server.now += 3_600
        #expect(server.state.limit == limit && server.state.current == current)
    }

    @Test func timesOfAttemptsBeforeLimitChangeAreIgnored() {
        var state = CountedLimit(AdaptiveLimit(initial: 8))
        let old = (0..<100).map { _ in state.begin() }
        let first = state.begin()
        state.end(.pushedBack, of: first, at: 1)
        let limit = state.limit
        for period in old { state.end(.served(after: 60), of: period, at: 60) }
        #expect(state.limit == limit && state.recentMean == nil && state.service == nil)
    }

    @Test func timesOfFirstAttemptsAfterLimitChangeAreIgnored() {
        var state = CountedLimit(AdaptiveLimit(initial: 8))
        let first = state.begin()
        state.end(.pushedBack, of: first, at: 1)
        #expect(state.current == 6)
        for seconds in [100, 100, 100, 100, 100, 100] + [Double](repeating: 0.25, count: 20) {
            let period = state.begin()
            state.end(.served(after: seconds), of: period, at: 2)
        }
        #expect(state.service?.mean == 0.25)
    }

    @Test func lateResponsesDoNotLowerUnreachedLimit() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 20, rounds: 107)
        server.serve(capacity: 20, rounds: 200, mostAtOnce: 2)
        #expect(server.state.phase == .steady)
        let limit = server.state.limit
        for _ in 0..<1_000 {
            let period = server.state.begin()
            server.now += 1
            server.state.end(.served(after: 0.5), of: period, at: server.now)
        }
        #expect(server.state.limit == limit)
    }

    // MARK: Callers who leave

    /// Loads up to the limit; all attempts are given up after a time.
    private func giveUp(_ seconds: Double, rounds: Int, _ server: inout FixedServer) {
        for _ in 0..<rounds {
            let periods = (0..<server.state.current).map { _ in server.state.begin() }
            server.now += seconds
            for period in periods { server.state.end(.givenUp(after: seconds), of: period, at: server.now) }
        }
    }

    @Test func attemptsGivenUpLateLowerTheLimit() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 40, rounds: 100)
        let before = server.state.limit
        giveUp(0.25, rounds: 4, &server)
        #expect(server.state.limit <= before / 4 && server.state.reason == .delayed)
        // Nothing was learned from it.
        #expect(server.state.service.map { abs($0.mean - 0.1) < 0.01 } == true)
        server.serve(capacity: 10, rounds: 200)
        #expect((9...16).contains(server.state.limit), "\(server.state.limit)")
    }

    /// As with a search for each letter that is typed, of which all but the last are given up, also late.
    @Test func leavingCallersDoNotMoveUnusedLimit() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 20, rounds: 200)
        server.serve(capacity: 20, rounds: 10, mostAtOnce: 2)
        let (before, service) = (server.state.limit, server.state.service?.mean)
        for round in 0..<10_000 {
            let period = server.state.begin()
            let seconds = 0.0001 * Double(round % 3_000)
            server.now += seconds
            server.state.end(.givenUp(after: seconds), of: period, at: server.now)
        }
        #expect(server.state.limit == before && server.state.service?.mean == service)
    }

    /// Of callers who leave at the service's time, or a bit before it, some are served; of those nothing is held back.
    @Test func limitFallsAndRecoversForImpatientCallers() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 20, rounds: 200)
        var (lowest, attempts) = (20, 0)
        for _ in 0..<400 {
            let periods = (0..<server.state.current).map { _ in server.state.begin() }
            lowest = min(lowest, periods.count)
            // Three of five leave after a quarter of a second, and the others have their answer a little later.
            let isLate = periods.count > 20
            let numbered = periods.enumerated().map { (number: attempts + $0.offset, period: $0.element) }
            attempts += periods.count
            for (number, period) in numbered where number % 5 < 3 || isLate {
                server.state.end(.givenUp(after: 0.25), of: period, at: server.now + 0.25)
            }
            server.now += 0.3
            for (number, period) in numbered where number % 5 >= 3 && !isLate {
                server.state.end(.served(after: 0.3), of: period, at: server.now)
            }
        }
        #expect(lowest <= 2, "It was not lowered.")
        #expect(server.state.limit >= 10, "\(server.state.limit)")
    }

    // MARK: Measuring

    /// What comes after a quiet time is not measured, as a burst would have less than its limit.
    @Test func burstAfterQuietTimeGetsWholeLimit() {
        var server = FixedServer(AdaptiveLimit())
        server.serve(capacity: 20, rounds: 200)
        var lowered = 0
        for _ in 0..<200 {
            // As long as some moments of measuring, and at any time between them.
            server.now += 61.7
            server.serve(capacity: 20, rounds: 10)
            if server.state.phase == .measuring { lowered += 1 }
        }
        #expect(lowered == 0)
    }

    @Test func endsWithoutInformationDoNotChangeLimit() {
        var state = CountedLimit(AdaptiveLimit(initial: 8))
        for _ in 0..<1_000 {
            let period = state.begin()
            state.end(.nothing, of: period, at: 1)
            let other = state.begin()
            state.end(.served(after: nil), of: other, at: 1)
        }
        #expect(state.current == 8 && state.reason == nil && state.inFlight == 0 && state.service == nil)
    }

    // MARK: Pauses and settings

    @Test func pauseSetsCurrentToZeroAndKeepsLimit() {
        var state = CountedLimit(AdaptiveLimit(initial: 8))
        state.pause()
        #expect(state.current == 0 && state.reason == .paused)
        state.resume()
        #expect(state.current == 8 && state.reason == .resumed)
    }

    @Test func invalidSettingsAreClamped() {
        #expect(
            AdaptiveLimit(initial: -5, minimum: -5, maximum: -5) == AdaptiveLimit(initial: 1, minimum: 1, maximum: 1))
        #expect(AdaptiveLimit(initial: 50, minimum: 9, maximum: 3) == AdaptiveLimit(initial: 9, minimum: 9, maximum: 9))
        for number in [Int.min, -1, 0, 1, .max] {
            var state = CountedLimit(AdaptiveLimit(initial: number, minimum: number, maximum: number))
            for step in 0..<300 {
                let period = state.begin()
                state.end(.served(after: .greatestFiniteMagnitude), of: period, at: Double(step))
                let other = state.begin()
                state.end(.served(after: -1), of: other, at: -Double(step))
                let last = state.begin()
                state.end(.pushedBack, of: last, at: .infinity)
            }
            #expect(state.current >= 1)
        }
    }

    // MARK: Against a naive model

    /// Every sequence of six events.
    ///
    /// So few close no window, so refusals alone move the limit.
    @Test func everySequenceOfSixEventsAgreesWithNaiveLimit() {
        let events = NaiveLimit.Event.allCases
        var sequence = [Int](repeating: 0, count: 6)
        repeat {
            var (state, naive) = (CountedLimit(AdaptiveLimit(initial: 7)), NaiveLimit(initial: 7))
            for index in sequence {
                naive.happen(events[index], &state)
                if let fault = naive.fault(state) {
                    Issue.record("\(sequence.map { events[$0] }): \(fault)")
                    return
                }
            }
        } while Self.countUp(&sequence, events.count)
    }

    private static func countUp(_ digits: inout [Int], _ base: Int) -> Bool {
        for index in digits.indices {
            digits[index] += 1
            if digits[index] < base { return true }
            digits[index] = 0
        }
        return false
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func randomWalksKeepInvariants(group: UInt64) {
        takeWalks(seeds: (group * 25)..<(group * 25 + 25)) { seed in
            let first = Walk(seed: seed)
            return first.fault ?? (first.trace == Walk(seed: seed).trace ? nil : "another course with the same seed")
        }
    }
}

/// A limit with the number of its attempts under way, which its owner counts.
@dynamicMemberLookup
private struct CountedLimit {
    private var state: AdaptiveLimitState
    private(set) var inFlight = 0

    init(_ settings: AdaptiveLimit, wallClockOffset: Double = 0) {
        state = AdaptiveLimitState(settings, wallClockOffset: wallClockOffset)
    }

    subscript<Value>(dynamicMember keyPath: KeyPath<AdaptiveLimitState, Value>) -> Value { state[keyPath: keyPath] }

    mutating func begin() -> UInt32 {
        inFlight += 1
        return state.period
    }

    mutating func end(_ end: AdaptiveLimitState.End, of period: UInt32, at now: Double) {
        state.end(end, of: period, inFlight: inFlight, at: now)
        inFlight -= 1
    }

    mutating func pause() { state.pause() }
    mutating func resume() { state.resume() }
}

/// A server whose workers take 100 ms for each request, and a client that always uses its whole limit.
private struct FixedServer {
    var state: CountedLimit
    var now = 0.0

    init(_ settings: AdaptiveLimit) { state = CountedLimit(settings) }

    /// In each round the client uses its limit, and requests wait for each other if there are too few workers.
    mutating func serve(capacity: Int, rounds: Int, mostAtOnce: Int = .max) {
        for _ in 0..<rounds {
            let count = min(state.current, mostAtOnce)
            let periods = (0..<count).map { _ in state.begin() }
            // In a steady flow, each waits for those that are more than the workers.
            let seconds = 0.1 * max(1, Double(count) / Double(capacity))
            now += seconds
            for period in periods { state.end(.served(after: seconds), of: period, at: now) }
        }
    }
}

/// The rules that need no times, as plainly as they can be written.
private struct NaiveLimit {
    enum Event: CaseIterable { case begin, servesOldest, refusesOldest, refusesNewest, dropsOldest, pause, resume }

    private var limit: Double
    /// For each attempt under way, whether the limit has moved since it began; and what the state knows it by.
    private var attempts: [(isOld: Bool, period: UInt32)] = []
    private var isPaused = false

    init(initial: Double) { limit = initial }

    mutating func happen(_ event: Event, _ state: inout CountedLimit) {
        switch event {
        case .begin: attempts.append((false, state.begin()))
        case .servesOldest: end(at: attempts.startIndex, .served(after: 0.1), &state)
        case .refusesOldest: end(at: attempts.startIndex, .pushedBack, &state)
        case .refusesNewest: end(at: attempts.endIndex - 1, .pushedBack, &state)
        case .dropsOldest: end(at: attempts.startIndex, .nothing, &state)
        case .pause:
            isPaused = true
            state.pause()
        case .resume:
            isPaused = false
            state.resume()
        }
    }

    private mutating func end(at index: Int, _ end: AdaptiveLimitState.End, _ state: inout CountedLimit) {
        guard attempts.indices.contains(index) else { return }
        let attempt = attempts.remove(at: index)
        state.end(end, of: attempt.period, at: 1)
        guard end == .pushedBack, !attempt.isOld else { return }
        limit = max(1, limit * 0.8)
        for index in attempts.indices { attempts[index].isOld = true }
    }

    func fault(_ state: CountedLimit) -> String? {
        if state.inFlight != attempts.count { return "\(state.inFlight) under way, not \(attempts.count)" }
        if abs(state.limit - limit) > 1e-9 { return "the limit is \(state.limit), not \(limit)" }
        let current = isPaused ? 0 : Int(limit.rounded())
        return state.current == current ? nil : "\(state.current) may run, not \(current)"
    }
}

/// A random course of attempts, and what must be true whatever happens.
private struct Walk {
    private(set) var fault: String?
    private(set) var trace: [Int] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let minimum = Int.random(in: 1...4, using: &random)
        let maximum = minimum + Int.random(in: 0...100, using: &random)
        let settings = AdaptiveLimit(
            initial: Int.random(in: 1...200, using: &random), minimum: minimum, maximum: maximum)
        var state = CountedLimit(settings, wallClockOffset: Double.random(in: -1e9...1e9, using: &random))
        // How many of a hundred stay.
        let staying = Int.random(in: 0...95, using: &random)
        var (attempts, now) = ([(period: UInt32, start: Double)](), 0.0)
        var (isPaused, movedSince, before) = (false, Set<UInt32>(), state.limit)
        for step in 0..<1_500 {
            now += Double.random(in: 0...0.02, using: &random)
            let room = isPaused ? 0 : state.current
            switch Int.random(in: 0..<100, using: &random) {
            case 0:
                isPaused = true
                state.pause()
            case 1..<4:
                isPaused = false
                state.resume()
            case _ where attempts.count < room && !Int.random(in: 0..<4, using: &random).isMultiple(of: 4):
                attempts.append((state.begin(), now))
            case let chance where !attempts.isEmpty:
                let attempt = attempts.remove(at: Int.random(in: attempts.indices, using: &random))
                let isRefused = chance > 97
                state.end(
                    isRefused
                        ? .pushedBack
                        : chance > 95
                            ? .nothing
                            : chance > staying
                                ? .givenUp(after: now - attempt.start) : .served(after: now - attempt.start),
                    of: attempt.period, at: now)
                if isRefused, state.limit < before, !movedSince.insert(attempt.period).inserted {
                    fault = "step \(step): two refusals of one period lowered the limit"
                }
            default: break
            }
            if isPaused != (state.current == 0) { fault = "step \(step): \(state.current) may run" }
            if !isPaused, !(minimum...maximum).contains(state.current) {
                fault = "step \(step): \(state.current) may run"
            }
            if !(Double(minimum)...Double(maximum)).contains(state.limit) {
                fault = "step \(step): limit \(state.limit)"
            }
            if state.inFlight != attempts.count { fault = "step \(step): \(state.inFlight) under way" }
            if room > 0, state.current > room, state.reason != .underLimit, state.reason != .measured {
                fault = "step \(step): it grew for \(String(describing: state.reason))"
            }
            if state.limit > 2 * before { fault = "step \(step): it more than doubled" }
            if let service = state.service, !service.mean.isFinite {
                fault = "step \(step): a service of \(service.mean)"
            }
            before = state.limit
            trace.append(state.current)
            if fault != nil { return }
        }
    }
}
