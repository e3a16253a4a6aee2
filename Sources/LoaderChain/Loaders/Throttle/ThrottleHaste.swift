/// Whether the newest waiter of a queue goes first, because the callers of the oldest have no patience left.
///
/// In their order, all would get their slots when they have waited for as long as callers have patience, and then leave: the
/// server works, and hardly any answer is still wanted. The newest have most of their patience left. Every so many slots the oldest
/// has its turn all the same, so that a caller who never leaves is served; and by what becomes of those it is seen whether the
/// order of their arrival would do again.
///
/// The ends are judged in rounds, of which each lasts until a task has ended that came in it. So tasks that are given up together,
/// as those of a screen that is left, are in one round, however many they are.
package struct ThrottleHaste {
    package private(set) var isOn = false
    private var roundBegan = TimerInstant(nanoseconds: .min)
    private var givenUp = 0
    private var others = 0
    /// How many rounds in a row spoke against what is the case.
    private var rounds = 0
    private var turns = PerPriority<UInt8>(0)

    private static let roundsToChange = 4
    private static let turnsOfOldest: UInt8 = 32

    package init() {}

    /// Notes the end of a task that had waited longest of all when it got its slot.
    ///
    /// - Parameters:
    ///   - isGivenUp: whether its caller has left.
    ///   - arrival: when it came.
    ///   - start: when it got its slot.
    package mutating func note(
        isGivenUp: Bool, cameAt arrival: TimerInstant, startedAt start: TimerInstant, at now: TimerInstant
    ) {
        if isGivenUp {
            // One that ran for far longer than it had waited says something about the server, and nothing about the queue.
            guard start.duration(to: now) <= arrival.duration(to: start) * 4 else { return }
            givenUp += 1
        } else {
            others += 1
        }
        // The oldest may have come very long ago while the newest go first.
        guard (isOn ? start : arrival) > roundBegan else { return }
        let isOverdue = 9 * givenUp >= others
        (givenUp, others, roundBegan) = (0, 0, now)
        rounds = isOverdue == isOn ? 0 : rounds + 1
        if rounds == Self.roundsToChange { (isOn, rounds) = (isOverdue, 0) }
    }

    /// Whether the next slot for a priority is for its newest waiter.
    package mutating func takesNewest(of priority: ThrottlePriority) -> Bool {
        guard isOn else { return false }
        return turns.change(priority) { turn in
            turn = (turn + 1) % Self.turnsOfOldest
            return turn > 0
        }
    }
}
