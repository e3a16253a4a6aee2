/// Whose turn it is among the priorities: the highest's, until a lower one has been passed over too often.
///
/// Only the first waiter of each priority is passed over, and only by a start that it could have had itself. When that has
/// happened too often, or for too long, its priority goes first. What it is owed is kept while it is not ready, as when its
/// host is busy: otherwise steady traffic that makes it unready between two of its chances would starve it. The debt ends
/// with a start of that priority, and before the first waiter after none.
struct PriorityTurns {
    /// What a priority bears before it goes first.
    struct Patience {
        /// How many of higher priority may go past the first in line.
        var starts = 8
        /// For how long they may; nil for as long as it takes.
        var time: Duration?
    }

    /// What a priority is owed.
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

    /// Changes one of the values where it lies.
    @inline(__always)
    mutating func change<Result>(_ priority: ThrottlePriority, _ change: (inout Value) -> Result) -> Result {
        switch priority {
        case .low: change(&low)
        case .normal: change(&normal)
        case .high: change(&high)
        }
    }

    /// What becomes of each value.
    @inline(__always)
    func map<Result>(_ transform: (Value) -> Result) -> PerPriority<Result> {
        PerPriority<Result>(low: transform(low), normal: transform(normal), high: transform(high))
    }
}

extension PerPriority {
    /// The same value for each.
    init(_ value: Value) { self.init(low: value, normal: value, high: value) }
}
