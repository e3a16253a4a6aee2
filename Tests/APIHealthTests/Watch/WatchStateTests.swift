import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct WatchStateTests {
    private static func at(_ milliseconds: Int) -> TimerInstant {
        TimerInstant(nanoseconds: 0).advanced(by: .milliseconds(milliseconds))
    }

    @Test func stateReportsOnlyChanges() {
        var state = WatchState(["a"], at: Self.at(0))
        #expect(state.note(.healthy(.ok), duration: .milliseconds(5), of: 0, at: Self.at(10)) == nil)
        #expect(state.note(.silent("timed out"), duration: .seconds(1), of: 0, at: Self.at(1_000)) == .wentDown)
        #expect(state.note(.unexpected(500), duration: .milliseconds(5), of: 0, at: Self.at(2_000)) == nil)
        #expect(state.note(.none, duration: .zero, of: 0, at: Self.at(2_500)) == nil)
        #expect(state.endpoints[0].downtime(by: Self.at(3_000)) == .seconds(2))
        let back = state.note(.healthy(.ok), duration: .milliseconds(5), of: 0, at: Self.at(4_000))
        #expect(back == .cameBack(.seconds(3)))
        let endpoint = state.endpoints[0]
        #expect((endpoint.checks, endpoint.healthy, endpoint.cancelled, endpoint.outages) == (4, 2, 1, 1))
        #expect(endpoint.downtime(by: Self.at(9_000)) == .seconds(3))
        // Silence has no latency.
        #expect(endpoint.latency.count == 3)
        #expect(!state.isAllHealthy)
    }

    @Test func uncheckedEndpointIsNotHealthy() {
        var state = WatchState(["a", "b"], at: Self.at(0))
        #expect(!state.isAllHealthy)
        _ = state.note(.healthy(.ok), duration: .zero, of: 0, at: Self.at(1))
        #expect(!state.isAllHealthy)
        _ = state.note(.healthy(.ok), duration: .zero, of: 1, at: Self.at(1))
        #expect(state.isAllHealthy)
        #expect(state.note(.healthy(.ok), duration: .zero, of: 7, at: Self.at(1)) == nil)
    }

    /// Everything that was noted, looked through from the start for every question.
    private struct NaiveEndpoint {
        var notes: [(verdict: WatchVerdict, time: Int)] = []

        var judged: [(verdict: WatchVerdict, time: Int)] { notes.filter { $0.verdict != .none } }

        var outages: Int {
            judged.indices.count { !judged[$0].verdict.isHealthy && ($0 == 0 || judged[$0 - 1].verdict.isHealthy) }
        }

        func downtime(by now: Int) -> Duration {
            var sum = 0
            for (index, note) in judged.enumerated() where !note.verdict.isHealthy {
                sum += (index + 1 < judged.count ? judged[index + 1].time : now) - note.time
            }
            return .milliseconds(sum)
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func stateMatchesNaiveModel(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var state = WatchState(["a", "b", "c"], at: Self.at(0))
        var naive = [NaiveEndpoint](repeating: NaiveEndpoint(), count: 3)
        let verdicts: [WatchVerdict] = [.healthy(.ok), .healthy(.ok), .unexpected(500), .silent("timed out"), .none]
        var now = 0
        for _ in 0..<200 {
            now += Int.random(in: 0...2_000, using: &generator)
            let index = Int.random(in: 0..<3, using: &generator)
            let verdict = verdicts[Int.random(in: 0..<verdicts.count, using: &generator)]
            let before = naive[index].judged.last?.verdict.isHealthy ?? true
            naive[index].notes.append((verdict, now))
            let change = state.note(verdict, duration: .milliseconds(3), of: index, at: Self.at(now))
            #expect((change != nil) == (verdict != .none && verdict.isHealthy != before))
        }
        for (endpoint, naive) in zip(state.endpoints, naive) {
            #expect(endpoint.checks == naive.judged.count)
            #expect(endpoint.healthy == naive.judged.count { $0.verdict.isHealthy })
            #expect(endpoint.cancelled == naive.notes.count - naive.judged.count)
            #expect(endpoint.outages == naive.outages)
            #expect(endpoint.downtime(by: Self.at(now)) == naive.downtime(by: now))
            #expect(
                endpoint.recent.map(\.isHealthy) == naive.judged.suffix(WatchState.recentCount).map(\.verdict.isHealthy)
            )
        }
    }

    @Test func scheduleKeepsIntervalDespiteSlowChecks() {
        var schedule = WatchSchedule(every: .seconds(10), count: 5, from: Self.at(0))
        #expect(schedule.next(at: Self.at(0)) == .check(after: .zero, missed: 0))
        #expect(schedule.next(at: Self.at(400)) == .check(after: .milliseconds(9_600), missed: 0))
        // The second check took so long that the third is late, though not as late as the fourth.
        #expect(schedule.next(at: Self.at(23_000)) == .check(after: .zero, missed: 0))
        // The third took so long that two turns are gone.
        #expect(schedule.next(at: Self.at(55_000)) == .check(after: .zero, missed: 2))
        #expect(schedule.next(at: Self.at(56_000)) == .check(after: .seconds(4), missed: 0))
        #expect(schedule.next(at: Self.at(60_000)) == .end)
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func checksAndMissedTurnsAddUpToElapsedTime(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let interval = Int.random(in: 10...5_000, using: &generator)
        var schedule = WatchSchedule(every: .milliseconds(interval), count: nil, from: Self.at(0))
        var now = 0
        var turns = -1
        for _ in 0..<100 {
            guard case .check(let delay, let missed) = schedule.next(at: Self.at(now)) else {
                Issue.record("It ended")
                return
            }
            turns += 1 + missed
            now += Int(delay / .milliseconds(1))
            // A check begins at its turn or later, and never a whole turn later.
            #expect(now >= turns * interval && now < (turns + 1) * interval)
            now += Int.random(in: 0...(interval * 4), using: &generator)
        }
    }
}
