/// Whose turn it is among the priorities: the highest's, until a lower one has been passed over too often.
///
/// Only the first waiter of each priority is passed over, and only by a start that it could have had itself. When that has
/// happened ``patience`` times, its priority goes first. What it is owed is kept while it is not ready, as when its host is
/// busy: otherwise steady traffic that makes it unready between two of its chances would starve it. The count ends with a
/// start of that priority, and when nothing of it waits any more.
struct PriorityTurns {
    /// How many of higher priority may go past the first in line.
    static let patience = 8

    private let patience: Int
    private var passedOver = PerPriority(0)

    init(patience: Int = Self.patience) { self.patience = patience }

    /// The priority whose turn it is among those that are ready; nil if none is.
    @inline(__always)
    func turn(among ready: PerPriority<Bool>) -> ThrottlePriority? {
        if ready.high { return turn(insteadOf: .high, among: ready) }
        if ready.normal { return turn(insteadOf: .normal, among: ready) }
        return ready.low ? .low : nil
    }

    /// A lower priority that is ready and has been passed over too often, or else `priority`.
    @inline(__always)
    func turn(insteadOf priority: ThrottlePriority, among ready: PerPriority<Bool>) -> ThrottlePriority {
        // The lowest comes first here, so that another's turn can never stretch its wait.
        if ready.low, passedOver.low >= patience { return .low }
        if priority == .high, ready.normal, passedOver.normal >= patience { return .normal }
        return priority
    }

    /// Counts a start of one priority, which passes over the lower ones that are `ready`.
    ///
    /// Nothing is kept for those that are not even `waiting`.
    @inline(__always)
    mutating func count(
        _ priority: ThrottlePriority, past ready: PerPriority<Bool>, waiting: PerPriority<Bool>
    ) {
        if priority == .high { pass(&passedOver.normal, isReady: ready.normal, isWaiting: waiting.normal) }
        if priority != .low { pass(&passedOver.low, isReady: ready.low, isWaiting: waiting.low) }
        passedOver[priority] = 0
    }

    @inline(__always)
    private func pass(_ count: inout Int, isReady: Bool, isWaiting: Bool) {
        if isReady { count += 1 } else if !isWaiting { count = 0 }
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
