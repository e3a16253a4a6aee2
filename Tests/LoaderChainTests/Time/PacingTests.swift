import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct PacingTests {
    private let pacing = Pacing(first: .seconds(1), maximum: .seconds(100), maximumAsked: .seconds(3_600))

    @Test func boundDoublesUpToMaximum() {
        let bounds = [0, 1, 2, 3, 7, 8, 9, 126, 127, 128, .max].map { pacing.bound(afterFailures: $0) }
        #expect(bounds == [1, 1, 2, 4, 64, 100, 100, 100, 100, 100, 100].map { .seconds($0) })
    }

    @Test func delayIsRandomBetweenLeastShareAndBound() {
        let half = Pacing(first: .seconds(1), maximum: .seconds(100), leastShare: 0.5)
        for (roll, full, atLeastHalf) in [(0.0, 0, 2_000), (0.25, 1_000, 2_500), (0.5, 2_000, 3_000)] {
            #expect(pacing.delay(afterFailures: 3, roll: roll) == .milliseconds(full))
            #expect(half.delay(afterFailures: 3, roll: roll) == .milliseconds(atLeastHalf))
        }
    }

    @Test func delayFollowsTimeAskedByServer() {
        for failures in [1, 3, 50] {
            #expect(pacing.delay(afterFailures: failures, asked: .seconds(1), roll: 0) == .seconds(1))
            #expect(pacing.delay(afterFailures: failures, asked: .seconds(32), roll: 0.5) == .seconds(34))
        }
        // One that asks for an hour is not asked minutes later by some, and nobody waits longer than he may be asked to.
        #expect(pacing.delay(afterFailures: 3, asked: .seconds(3_000), roll: 0.96) == .seconds(3_012))
        #expect(pacing.delay(afterFailures: 3, asked: .seconds(1_000_000), roll: 0.96) == .seconds(3_600))
        for asked in [-1, 0] {
            #expect(pacing.delay(afterFailures: 3, asked: .seconds(asked), roll: 0.5) == .seconds(2))
        }
    }

    @Test func extremeSettingsGiveNonNegativeDelays() {
        let huge = Duration(attoseconds: .max)
        for (first, maximum) in [
            (huge, huge), (.nanoseconds(1), huge), (.zero - huge, huge), (.seconds(1), .zero - huge), (.zero, .zero),
        ] {
            let pacing = Pacing(first: first, maximum: maximum, maximumAsked: huge)
            for failures in [-1, 0, 1, 50, 500, .max] {
                let delay = pacing.delay(afterFailures: failures, asked: huge, roll: 0.999)
                #expect(delay >= .zero)
            }
        }
        #expect(Pacing(first: .seconds(9), maximum: .seconds(2)).delay(afterFailures: 1, roll: 0.5) == .seconds(1))
    }
}
