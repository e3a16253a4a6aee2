/// Adds up the time of waits; overlapping waits count once.
struct WaitClock {
    private var waiting = 0
    private var since = TimerInstant(nanoseconds: 0)
    private var sum = Duration.zero

    var isWaiting: Bool { waiting > 0 }

    mutating func begin(at now: TimerInstant) {
        if waiting == 0 { since = now }
        waiting += 1
    }

    mutating func end(at now: TimerInstant) {
        guard waiting > 0 else { return }
        waiting -= 1
        if waiting == 0 { sum += passed(until: now) }
    }

    /// The sum up to now, with a wait that is not over.
    func total(at now: TimerInstant) -> Duration {
        waiting > 0 ? sum + passed(until: now) : sum
    }

    /// Not negative: two threads may read the clock in one order and arrive here in the other.
    private func passed(until now: TimerInstant) -> Duration {
        max(.zero, since.duration(to: now))
    }
}
