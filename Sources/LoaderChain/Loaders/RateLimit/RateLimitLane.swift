/// One bucket of tokens and those who wait for them, first come, first served.
///
/// Whoever waits has an alarm set for the next token. Every method changes the lane and returns what there is to do; the
/// owner does that after it has unlocked.
struct RateLimitLane<Waiter: LineEntry> {
    private var bucket: TokenBucket
    private let line = Line<Waiter>()
    private var alarm = Alarm()

    init(_ rate: RateLimit.Rate, at now: TimerInstant) {
        bucket = TokenBucket(rate, at: now)
    }

    /// How many wait.
    var waiting: Int { line.count }

    /// An alarm to be set.
    struct Setting: Equatable {
        let number: UInt64
        let deadline: TimerInstant
    }

    /// What becomes of one who arrives.
    enum Admission: Equatable {
        /// It has its token.
        case passes
        /// It waits in line, or is to be put there; an alarm is to be set if none is.
        case waits(Setting?)
        /// There is no room in line. The next token comes after that time.
        case refused(Duration)
    }

    /// Admits one who arrives.
    ///
    /// - Parameter waiter: who stands in line if need be; nil to learn whether there is need.
    mutating func admit(_ waiter: Waiter?, room: Int, at now: TimerInstant) -> Admission {
        // Whoever waits goes first, also if there is a token and the alarm is only about to ring.
        if line.isEmpty, bucket.take(at: now) { return .passes }
        guard line.count < room else { return .refused(now.duration(to: max(now, bucket.nextToken(at: now)))) }
        guard let waiter else { return .waits(nil) }
        line.append(waiter)
        return .waits(alarm.isSet ? nil : setAlarm(at: now))
    }

    /// Takes one out who no longer waits; nil if it was not here, else what is left of the alarm if it was the last.
    mutating func leave(_ waiter: Waiter) -> Alarm.Rung? {
        guard line.remove(waiter) else { return nil }
        return Alarm.Rung(timer: line.isEmpty ? alarm.clear() : nil)
    }

    /// What there is to do when tokens have come, or come at another pace.
    struct Step {
        /// Who has a token, in order.
        var passing: [Waiter] = []
        /// The alarm to set for those who go on waiting.
        var setting: Setting?
        /// The timer of the alarm before, to be cancelled.
        var timer: (any ScheduledTimer)?
    }

    /// The alarm rang; nil if it was of no use any more.
    mutating func ring(_ number: UInt64, at now: TimerInstant) -> Step? {
        guard let rung = alarm.ring(number) else { return nil }
        return step(at: now, after: rung.timer)
    }

    /// The pace changes.
    mutating func change(to rate: RateLimit.Rate, at now: TimerInstant) -> Step {
        bucket.change(to: rate, at: now)
        return step(at: now, after: alarm.clear())
    }

    /// Sends everybody away; the tokens stay as they are, since whoever counts the requests does not know of it.
    mutating func removeAll() -> Step {
        Step(passing: line.removeAll(), timer: alarm.clear())
    }

    /// A timer has been scheduled: returns it if it is of no use any more, and to be cancelled.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        alarm.keep(timer, of: number)
    }

    /// Whether it is as good as a new one.
    mutating func isIdle(at now: TimerInstant) -> Bool {
        line.isEmpty && bucket.isFull(at: now)
    }

    private mutating func step(at now: TimerInstant, after timer: (any ScheduledTimer)?) -> Step {
        var step = Step(timer: timer)
        while !line.isEmpty, bucket.take(at: now), let waiter = line.popFirst() { step.passing.append(waiter) }
        if !line.isEmpty { step.setting = setAlarm(at: now) }
        return step
    }

    private mutating func setAlarm(at now: TimerInstant) -> Setting {
        Setting(number: alarm.set(), deadline: bucket.nextToken(at: now))
    }
}
