import Testing

@testable import LoaderChain

/// How many attempts are timed.
@Suite(.timeLimit(.minutes(10))) struct TimingShareTests {
    /// Counts the times that are taken in a second with this number of attempts.
    private func timesTaken(
        _ share: inout TimingShare, attempts: Int, from start: Int64, firstNumber: UInt64 = 0
    ) -> Int {
        var taken = 0
        for attempt in 0..<attempts {
            // The numbers of tasks of which each makes one attempt.
            guard TimingShare.includes(firstNumber + UInt64(2 * attempt + 1), mask: share.mask) else { continue }
            taken += 1
            share.count(at: TimerInstant(nanoseconds: start + Int64(attempt) * 1_000_000_000 / Int64(attempts)))
        }
        return taken
    }

    @Test func fewAttemptsAreAllTimed() {
        var share = TimingShare()
        #expect(timesTaken(&share, attempts: 3_000, from: 0) == 3_000)
    }

    @Test func timedAttemptsPerSecondAreBounded() {
        var share = TimingShare()
        _ = timesTaken(&share, attempts: 400_000, from: 0)
        let taken = timesTaken(&share, attempts: 400_000, from: 1_000_000_000)
        #expect((800...5_000).contains(taken), "\(taken)")
        // All are again when there are few.
        for second in 2..<62 as Range<Int64> {
            _ = timesTaken(&share, attempts: 50, from: second * 1_000_000_000, firstNumber: UInt64(second) * 100)
        }
        #expect(share.mask == 0)
    }

    @Test func firstTimedAttemptAfterRushRestoresFullTiming() {
        var share = TimingShare()
        for _ in 0..<100_000 { share.count(at: TimerInstant(nanoseconds: 5)) }
        // At ten a second one in 1,024 comes after more than a minute, and shows that.
        share.count(at: TimerInstant(nanoseconds: 100_000_000_000))
        #expect(share.mask == 0)
    }

    @Test func stoppedClockStillTimesSomeAttempts() {
        var share = TimingShare()
        for _ in 0..<100_000 { share.count(at: TimerInstant(nanoseconds: 5)) }
        #expect(share.mask == 1_023)
        let included = (0..<100_000 as Range<UInt64>).count { TimingShare.includes($0, mask: share.mask) }
        #expect((50...200).contains(included), "\(included)")
    }
}
