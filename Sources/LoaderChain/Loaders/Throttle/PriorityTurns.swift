/// Whose turn it is among the priorities: the highest's, until a lower one has been passed over too often.
///
/// Only the first waiter of each priority is passed over, and only by a start that it could have had itself. When that has
/// happened too often, or for too long, its priority goes first. What it is owed is kept while it is not ready, as when its
/// host is busy: otherwise steady traffic that makes it unready between two of its chances would starve it. The debt ends
/// with a start of that priority, and before the first waiter after none.
struct PriorityTurns {
    /// What a priority bears before it goes first.
    struct Patience {
        /// The number of tasks of higher priority that may overtake the first in line.
        var starts = 8
        /// The longest time for which they may; nil for unlimited.
        var time: Duration?
    }

    private struct Debt {
        var starts = 0
        /// When it has been passed over for too long.
        var due = TimerInstant.never

        static let none = Debt()
    }

    private let patience: Patience
    private var debts = PerPriority(Debt.none)

    init(_ patience: Patience = Patience()) { self.patience = patience }

    /// The priority whose turn it is among those that are ready; nil if none is.
    @inline(__always)
    func turn(among ready: PerPriority<Bool>, at now: TimerInstant) -> ThrottlePriority? {
        if ready.high { return turn(insteadOf: .high, among: ready, at: now) }
        if ready.normal { return turn(insteadOf: .normal, among: ready, at: now) }
        return ready.low ? .low : nil
    }

    /// A lower priority that is ready and has been passed over too often or for too long, or else `priority`.
    @inline(__always)
    func turn(
        insteadOf priority: ThrottlePriority, among ready: PerPriority<Bool>, at now: TimerInstant
    ) -> ThrottlePriority {
        // The lowest comes first here, so that another's turn can never stretch its wait.
        if ready.low, isDue(debts.low, at: now) { return .low }
        if priority == .high, ready.normal, isDue(debts.normal, at: now) { return .normal }
        return priority
    }

    /// Counts a start of one priority, which passes over the lower ones that are `ready`.
    @inline(__always)
    mutating func count(_ priority: ThrottlePriority, past ready: PerPriority<Bool>, at now: TimerInstant) {
        if priority == .high, ready.normal { pass(&debts.normal, at: now) }
        if priority != .low, ready.low { pass(&debts.low, at: now) }
        forget(priority)
    }

    /// Forgets what a priority is owed: it has had its turn, or its first waiter comes.
    @inline(__always)
    mutating func forget(_ priority: ThrottlePriority) { debts[priority] = .none }

    @inline(__always)
    private func isDue(_ debt: Debt, at now: TimerInstant) -> Bool {
        debt.starts >= patience.starts || debt.due <= now
    }

    @inline(__always)
    private func pass(_ debt: inout Debt, at now: TimerInstant) {
        if debt.starts == 0, let time = patience.time { debt.due = now.advanced(by: time) }
        debt.starts += 1
    }
}

/// One value for each priority, without an array's allocation.
struct PerPriority<Value> {
    var low: Value
    var normal: Value
    var high: Value

    subscript(priority: ThrottlePriority) -> Value {
        @inline(__always) get {
            switch priority {
            case .low: low
            case .normal: normal
            case .high: high
            }
        }
        @inline(__always) set { change(priority) { $0 = newValue } }
    }

    @inline(__always)
    mutating func change<Result>(_ priority: ThrottlePriority, _ change: (inout Value) -> Result) -> Result {
        switch priority {
        case .low: change(&low)
        case .normal: change(&normal)
        case .high: change(&high)
        }
    }

    @inline(__always)
    func map<Result>(_ transform: (Value) -> Result) -> PerPriority<Result> {
        PerPriority<Result>(low: transform(low), normal: transform(normal), high: transform(high))
    }
}

extension PerPriority {
    init(_ value: Value) { self.init(low: value, normal: value, high: value) }
}

/// Whether the newest waiter of a queue goes first, because the callers of the oldest have no patience left.
///
/// In the order of arrival, all would get their slots when their callers' patience ends, and then leave: the server works, and
/// few answers are still wanted. The newest have most of their patience left. Every thirty-second slot goes to the oldest all
/// the same, so that a caller who never leaves is served; and the outcome of those shows whether the order of arrival would
/// work again.
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

    /// Notes the end of a task that had waited longest of all when it got its slot; `isGivenUp` if its caller has left.
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
