import LoaderChain

/// When an endpoint is checked: at a fixed pace, whatever a check takes.
struct WatchSchedule: Sendable {
    private let interval: Duration
    private let count: Int?
    private var due: TimerInstant
    private var checked = 0

    init(every interval: Duration, count: Int?, from start: TimerInstant) {
        self.interval = interval
        self.count = count
        due = start
    }

    /// What comes next.
    enum Step: Hashable, Sendable {
        /// A check after so long; before it, so many were left out because the one before took too long.
        case check(after: Duration, missed: Int)
        /// Nothing more.
        case end
    }

    /// What comes next at `now`.
    mutating func next(at now: TimerInstant) -> Step {
        if let count, checked >= count { return .end }
        defer { checked += 1 }
        if checked == 0 { return .check(after: max(.zero, now.duration(to: due)), missed: 0) }
        due = due.advanced(by: interval)
        let late = due.duration(to: now)
        guard late > .zero else { return .check(after: .zero - late, missed: 0) }
        // Late by less than one interval is late; whoever is later has missed his turn.
        let missed = Int(late / interval)
        due = due.advanced(by: interval * missed)
        return .check(after: .zero, missed: missed)
    }
}
