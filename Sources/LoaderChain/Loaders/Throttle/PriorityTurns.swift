/// Whose turn it is among the priorities: the highest's, until a lower one has been passed over too often.
///
/// Of each priority, only the first waiter that could run is passed over. That is counted, and when it has happened
/// ``patience`` times it goes before all others. No clock is read, so the same arrivals always leave in the same order.
struct PriorityTurns {
    /// How many of higher priority may go past the first in line.
    static let patience = 8

    private let patience: Int
    private var passedOver = PerPriority(0)

    init(patience: Int = Self.patience) {
        self.patience = patience
    }

    /// Gives the turn to one of those that are `ready`; nil if none is.
    @inline(__always)
    mutating func next(_ ready: PerPriority<Bool>) -> ThrottlePriority? {
        guard let turn = turn(ready) else { return nil }
        switch turn {
        case .high:
            passedOver.high = 0
            passedOver.normal = ready.normal ? passedOver.normal + 1 : 0
            passedOver.low = ready.low ? passedOver.low + 1 : 0
        case .normal:
            passedOver.normal = 0
            passedOver.low = ready.low ? passedOver.low + 1 : 0
        case .low:
            passedOver.low = 0
        }
        return turn
    }

    @inline(__always)
    private func turn(_ ready: PerPriority<Bool>) -> ThrottlePriority? {
        // The lowest comes first here, so that another's turn can never stretch its wait.
        if ready.low, passedOver.low >= patience { return .low }
        if ready.normal, passedOver.normal >= patience { return .normal }
        if ready.high { return .high }
        if ready.normal { return .normal }
        return ready.low ? .low : nil
    }
}
