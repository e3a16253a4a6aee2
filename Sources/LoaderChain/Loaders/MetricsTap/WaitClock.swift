/// Adds up the time during which somebody waits; what several wait at the same time counts once.
struct WaitClock {
    private var waiting = 0
    private var since = TimerInstant(nanoseconds: 0)
    private var sum = Duration.zero

    /// One more begins to wait.
    mutating func begin(at now: TimerInstant) {
        if waiting == 0 { since = now }
        waiting += 1
    }

    /// One of them waits no longer.
    mutating func end(at now: TimerInstant) {
        guard waiting > 0 else { return }
        waiting -= 1
        if waiting == 0 { sum += passed(until: now) }
    }

    /// How long it was until now, with a wait that goes on.
    func total(at now: TimerInstant) -> Duration {
        waiting > 0 ? sum + passed(until: now) : sum
    }

    /// Two threads may read the clock in one order and come here in the other.
    private func passed(until now: TimerInstant) -> Duration {
        max(.zero, since.duration(to: now))
    }
}
