/// One bucket of tokens and what waits for them, first come, first served.
///
/// While any wait, an alarm is set for the next token. The waiters of all lanes are in one storage, which the owner passes
/// to every change. Every method changes the lane and returns what there is to do; the owner does that after it has unlocked.
struct RateLimitLane<Waiter> {
    typealias Waiters = LinkedNodes<Waiter, Void>

    private var bucket: TokenBucket
    private var queue = QueueEnds()
    private(set) var waiting = 0
    private var alarm = Alarm()

    init(_ rate: RateLimit.Rate, at now: TimerInstant) { bucket = TokenBucket(rate, at: now) }

    /// An alarm to be set.
    struct Setting: Equatable {
        let number: UInt64
        let deadline: TimerInstant
    }

    /// What becomes of one who arrives.
    enum Admission: Equatable {
        /// It has its token.
        case passes
        /// It is to wait, for which it has to be admitted again, as a waiter.
        case mustWait
        /// It waits at a place; an alarm is to be set if none is.
        case waits(QueuePlace, Setting?)
        /// There is no room to wait in. The next token comes after that time.
        case refused(Duration)
        /// Its token would come after that time, and its deadline no later.
        case tooLate(Duration)
    }

    /// Admits one that arrives.
    ///
    /// - Parameters:
    ///   - waiter: what waits if need be; nil to learn whether there is need.
    ///   - deadline: when the waiter must have its token.
    mutating func admit(
        _ waiter: Waiter?, until deadline: TimerInstant = .never, room: Int, at now: TimerInstant,
        among waiters: inout Waiters
    ) -> Admission {
        // Those that wait go first, also if there is a token and the alarm is only about to ring.
        if waiting == 0, bucket.take(at: now) { return .passes }
        guard waiting < room else { return .refused(now.duration(to: max(now, bucket.nextToken(at: now)))) }
        guard let waiter else { return .mustWait }
        if deadline != .never {
            let turn = bucket.nextToken(after: waiting, at: now)
            guard turn < deadline else { return .tooLate(now.duration(to: turn)) }
        }
        waiting += 1
        return .waits(waiters.append(waiter, (), to: &queue), alarm.isSet ? nil : setAlarm(at: now))
    }

    /// Takes one out that no longer waits; nil if it has left, else also the alarm's timer if it was the last.
    mutating func leave(_ place: QueuePlace, among waiters: inout Waiters) -> Left? {
        guard let waiter = waiters.remove(place, from: &queue) else { return nil }
        waiting -= 1
        return Left(waiter: waiter, timer: waiting == 0 ? alarm.clear() : nil)
    }

    /// A waiter that left before its turn.
    struct Left {
        let waiter: Waiter
        /// The timer of the alarm, to be cancelled.
        let timer: (any ScheduledTimer)?
    }

    /// What there is to do when tokens have come, or come at another pace.
    struct Step {
        /// What has a token, in order.
        var passing: [Waiter] = []
        /// The alarm to set for those that go on waiting.
        var setting: Setting?
        /// The timer of the alarm before, to be cancelled.
        var timer: (any ScheduledTimer)?
    }

    /// The alarm rang; nil if it was of no use any more.
    mutating func ring(_ number: UInt64, at now: TimerInstant, among waiters: inout Waiters) -> Step? {
        guard let rung = alarm.ring(number) else { return nil }
        return step(at: now, after: rung.timer, among: &waiters)
    }

    /// The pace changes.
    mutating func change(to rate: RateLimit.Rate, at now: TimerInstant, among waiters: inout Waiters) -> Step {
        bucket.change(to: rate, at: now)
        return step(at: now, after: alarm.clear(), among: &waiters)
    }

    /// Takes out all that wait; the tokens stay as they are, since the server that counts requests does not know of it.
    mutating func removeAll(among waiters: inout Waiters) -> Step {
        var step = Step(timer: alarm.clear())
        while let waiter = popFirst(among: &waiters) { step.passing.append(waiter) }
        return step
    }

    /// A timer has been scheduled: returns it if it is of no use any more, and to be cancelled.
    mutating func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        alarm.keep(timer, of: number)
    }

    /// Whether it is as good as a new one.
    func isIdle(at now: TimerInstant) -> Bool { waiting == 0 && bucket.isFull(at: now) }

    private mutating func step(
        at now: TimerInstant, after timer: (any ScheduledTimer)?, among waiters: inout Waiters
    ) -> Step {
        var step = Step(timer: timer)
        while waiting > 0, bucket.take(at: now), let waiter = popFirst(among: &waiters) { step.passing.append(waiter) }
        if waiting > 0 { step.setting = setAlarm(at: now) }
        return step
    }

    private mutating func popFirst(among waiters: inout Waiters) -> Waiter? {
        guard let (waiter, _) = waiters.popFirst(of: &queue) else { return nil }
        waiting -= 1
        return waiter
    }

    private mutating func setAlarm(at now: TimerInstant) -> Setting {
        Setting(number: alarm.set(), deadline: bucket.nextToken(at: now))
    }
}
