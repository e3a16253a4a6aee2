import LoaderChain

/// The schedule of an endpoint's checks: a fixed interval, however long a check takes.
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

    enum Step: Hashable, Sendable {
        /// A check after a delay. `missed` checks before it were skipped because the previous one took too long.
        case check(after: Duration, missed: Int)
        case end
    }

    mutating func next(at now: TimerInstant) -> Step {
        if let count, checked >= count { return .end }
        defer { checked += 1 }
        if checked == 0 { return .check(after: max(.zero, now.duration(to: due)), missed: 0) }
        due = due.advanced(by: interval)
        let late = due.duration(to: now)
        guard late > .zero else { return .check(after: .zero - late, missed: 0) }
        // A check that is late by an interval or more is skipped.
        let missed = Int(late / interval)
        due = due.advanced(by: interval * missed)
        return .check(after: .zero, missed: missed)
    }
}
