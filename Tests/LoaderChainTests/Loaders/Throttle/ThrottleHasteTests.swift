import Testing

@testable import LoaderChain

/// When the newest waiter goes first.
@Suite(.timeLimit(.minutes(10))) struct ThrottleHasteTests {
    private var haste = ThrottleHaste()

    /// Notes the end of a task that came, started and ended at some milliseconds.
    private mutating func end(_ arrival: Int64, _ start: Int64, _ end: Int64, isGivenUp: Bool) {
        haste.note(
            isGivenUp: isGivenUp, cameAt: TimerInstant(nanoseconds: arrival),
            startedAt: TimerInstant(nanoseconds: start), at: TimerInstant(nanoseconds: end))
    }

    /// Rounds of tasks that came one after the other.
    private mutating func rounds(_ range: ClosedRange<Int64>, givenUp: Int, others: Int) {
        for round in range {
            for number in 0..<givenUp + others {
                end(100 * round, 100 * round + 50, 100 * round + 60, isGivenUp: number < givenUp)
            }
        }
    }

    @Test mutating func hasteTurnsOnAndOffAfterFourRounds() {
        rounds(1...3, givenUp: 1, others: 0)
        #expect(!haste.isOn)
        rounds(4...4, givenUp: 1, others: 0)
        #expect(haste.isOn)
        rounds(5...7, givenUp: 0, others: 1)
        #expect(haste.isOn)
        rounds(8...8, givenUp: 0, others: 1)
        #expect(!haste.isOn)
    }

    @Test mutating func tasksGivenUpTogetherCountAsOneRound() {
        for _ in 0..<1_000 { end(100, 200, 210, isGivenUp: true) }
        #expect(!haste.isOn)
        for number in 0..<1_000 as Range<Int64> { end(100, 200 + number, 201 + number, isGivenUp: true) }
        #expect(!haste.isOn)
    }

    @Test mutating func interveningRoundRestartsTheCount() {
        for round in 1...100 as ClosedRange<Int64> { rounds(round...round, givenUp: round % 4 > 0 ? 1 : 0, others: 1) }
        #expect(!haste.isOn)
    }

    @Test mutating func tenPercentGivenUpTurnsHasteOn() {
        // The first of a round belongs to the one before.
        rounds(1...20, givenUp: 1, others: 10)
        #expect(!haste.isOn)
        rounds(21...40, givenUp: 1, others: 9)
        #expect(haste.isOn)
    }

    @Test mutating func tasksGivenUpLongAfterStartAreIgnored() {
        for start in (1...100).map({ 100 * Int64($0) }) { end(start, start + 10, start + 51, isGivenUp: true) }
        #expect(!haste.isOn)
    }

    @Test mutating func oldestOfEachPriorityGetsEveryThirtySecondTurn() {
        rounds(1...4, givenUp: 1, others: 0)
        for _ in 0..<3 {
            // However the priorities take turns.
            let turns = (0..<64).map { haste.takesNewest(of: $0.isMultiple(of: 2) ? .high : .low) }
            #expect(turns == Array(repeating: true, count: 62) + [false, false])
        }
    }
}
