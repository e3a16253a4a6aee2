import LoaderChain

/// Counts drops, so that a burst of them becomes one event for each reason.
struct DropTelling {
    /// The least time between two events about drops.
    static let interval = Duration.seconds(1)

    private var counts: [DropReason: Int] = [:]
    /// When drops may be told again.
    private var next: TimerInstant?
    /// Whether a timer is set for that moment.
    private var isScheduled = false

    enum Step: Equatable {
        /// There is nothing to tell, or a timer is set already.
        case nothing
        case tell([DropReason: Int])
        /// Ask once more at that moment.
        case wait(until: TimerInstant)
    }

    var isEmpty: Bool { counts.isEmpty }

    mutating func add(_ count: Int, _ reason: DropReason) { counts[reason, default: 0] += count }

    /// Says what to do about the drops so far.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - atOnce: whether to tell all drops, even if little time has passed.
    mutating func tell(at now: TimerInstant, atOnce: Bool) -> Step {
        if let next, next <= now { isScheduled = false }
        guard !counts.isEmpty else { return .nothing }
        if let next, now < next, !atOnce {
            return replace(&isScheduled, with: true) ? .nothing : .wait(until: next)
        }
        next = now.advanced(by: Self.interval)
        isScheduled = false
        return .tell(replace(&counts, with: [:]))
    }
}
