/// The lanes of a rate limit: one for all requests, or one for each host.
struct RateLimitState<Waiter> {
    typealias Lane = RateLimitLane<Waiter>

    private(set) var rate: RateLimit.Rate
    private let capacity: Int
    private var common: Lane
    private var lanes = HostTable<HTTPOrigin, Lane>()
    private var waiters = Lane.Waiters()

    init(_ rate: RateLimit.Rate, waiting: RateLimit.Waiting, at now: TimerInstant) {
        self.rate = rate
        capacity = waiting.maximum
        common = Lane(rate, at: now)
    }

    var waiting: Int { waiters.count }

    /// How many hosts have a lane of their own.
    var hosts: Int { lanes.all.count }

    /// Admits a task for `origin`, nil for the common lane; the rest is as for a lane.
    mutating func admit(
        _ waiter: Waiter?, for origin: HTTPOrigin?, until deadline: TimerInstant = .never, at now: TimerInstant
    ) -> Lane.Admission {
        guard let origin else {
            return common.admit(waiter, until: deadline, capacity: capacity, at: now, among: &waiters)
        }
        return lanes.withEntry(of: origin, orMake: { Lane(rate, at: now) }, sweeping: { $0.isIdle(at: now) }) {
            $0.admit(waiter, until: deadline, capacity: capacity, at: now, among: &waiters)
        }
    }

    /// Changes the lane of `origin`, nil for the common one; does nothing if it has no lane.
    mutating func withLane<Result>(
        of origin: HTTPOrigin?, _ body: (inout Lane, inout Lane.Waiters) -> Result?
    ) -> Result? {
        guard let origin else { return body(&common, &waiters) }
        return lanes.withEntry(of: origin) { body(&$0, &waiters) } ?? nil
    }

    /// What the owner must do in the lane of a host, nil for the common one.
    typealias LaneStep = (origin: HTTPOrigin?, step: Lane.Step)

    /// Goes on at another pace.
    mutating func change(to rate: RateLimit.Rate, at now: TimerInstant) -> [LaneStep] {
        self.rate = rate
        return forEach { $0.change(to: rate, at: now, among: &$1) }
    }

    mutating func removeAll() -> [LaneStep] {
        forEach { $0.removeAll(among: &$1) }
    }

    private mutating func forEach(_ body: (inout Lane, inout Lane.Waiters) -> Lane.Step) -> [LaneStep] {
        var steps: [LaneStep] = [(nil, body(&common, &waiters))]
        lanes.forEach { origin, lane in steps.append((origin, body(&lane, &waiters))) }
        return steps
    }
}

/// One bucket of tokens and the tasks that wait for them, first come, first served.
///
/// While tasks wait, the owner has its alarm set for the next token. The waiters of all lanes are in one storage, which the
/// owner passes to every change. Every method changes the lane and returns what the owner must do, which it does after it has
/// unlocked.
struct RateLimitLane<Waiter> {
    typealias Waiters = LinkedNodes<Waiter, Void>

    private var bucket: TokenBucket
    private var queue = QueueEnds()
    private(set) var waiting = 0
    private let alarm = Alarm()

    init(_ rate: RateLimit.Rate, at now: TimerInstant) { bucket = TokenBucket(rate, at: now) }

    /// The answer to a task that arrives.
    enum Admission {
        /// The task has its token.
        case passes
        /// The task has to wait; admit it again, as a waiter.
        case mustWait
        /// The task waits at a place; the alarm has to be set if the task is the first of its lane.
        case waits(QueuePlace, Alarm?)
        /// The queue is full. The next token comes after this time.
        case refused(Duration)
        /// The task's token would come after this time, which is too late for its deadline.
        case tooLate(Duration)
    }

    /// Admits a task.
    ///
    /// - Parameters:
    ///   - waiter: the object that waits if there is no token; nil to learn whether the task has to wait.
    ///   - deadline: the time until which the waiter must have its token.
    mutating func admit(
        _ waiter: Waiter?, until deadline: TimerInstant = .never, capacity: Int, at now: TimerInstant,
        among waiters: inout Waiters
    ) -> Admission {
        // Waiting tasks go first, also if there is a token and the alarm is only about to ring.
        if waiting == 0, bucket.take(at: now) { return .passes }
        guard waiting < capacity else { return .refused(now.duration(to: max(now, bucket.nextToken(at: now)))) }
        guard let waiter else { return .mustWait }
        if deadline != .never {
            let turn = bucket.nextToken(after: waiting, at: now)
            guard turn < deadline else { return .tooLate(now.duration(to: turn)) }
        }
        waiting += 1
        return .waits(waiters.append(waiter, (), to: &queue), waiting == 1 ? alarm : nil)
    }

    /// The time of the next token, for which the alarm is set, if tasks wait for it.
    mutating func alarmTime(at now: TimerInstant) -> TimerInstant? { waiting > 0 ? bucket.nextToken(at: now) : nil }

    /// Takes one out that no longer waits; nil if it has left.
    mutating func leave(_ place: QueuePlace, among waiters: inout Waiters) -> Left? {
        guard let waiter = waiters.remove(place, from: &queue) else { return nil }
        waiting -= 1
        return Left(waiter: waiter, isLast: waiting == 0, alarm: alarm)
    }

    /// A waiter that left before its turn, and the alarm to set again if it was the last of its lane.
    struct Left {
        let waiter: Waiter
        let isLast: Bool
        let alarm: Alarm
    }

    /// What the owner must do after tokens have come, or their pace has changed: pass the waiters on, in order, and set the
    /// alarm.
    struct Step {
        var passing: [Waiter] = []
        let alarm: Alarm
    }

    /// Gives those that wait the tokens that have come.
    mutating func step(at now: TimerInstant, among waiters: inout Waiters) -> Step {
        var step = Step(alarm: alarm)
        while waiting > 0, bucket.take(at: now), let waiter = popFirst(among: &waiters) { step.passing.append(waiter) }
        return step
    }

    mutating func change(to rate: RateLimit.Rate, at now: TimerInstant, among waiters: inout Waiters) -> Step {
        bucket.change(to: rate, at: now)
        return step(at: now, among: &waiters)
    }

    /// Takes out all that wait; the tokens stay as they are, since the server that counts requests does not know of it.
    mutating func removeAll(among waiters: inout Waiters) -> Step {
        var step = Step(alarm: alarm)
        while let waiter = popFirst(among: &waiters) { step.passing.append(waiter) }
        return step
    }

    /// Whether it equals a new one.
    func isIdle(at now: TimerInstant) -> Bool { waiting == 0 && bucket.isFull(at: now) }

    private mutating func popFirst(among waiters: inout Waiters) -> Waiter? {
        guard let (waiter, _) = waiters.popFirst(of: &queue) else { return nil }
        waiting -= 1
        return waiter
    }
}

/// A token bucket: tokens come at an even pace until the bucket is full, and each request takes one.
///
/// Everything is counted in whole numbers. The unit is what one nanosecond adds for a single request per period. So a token has
/// as many units as the period has nanoseconds, and each nanosecond adds a unit for each request per period.
///
/// In any stretch of time, no more tokens go than the bucket holds and than come meanwhile.
struct TokenBucket {
    private(set) var rate: RateLimit.Rate
    private var content: Int128
    private var present: TimerInstant

    /// A full bucket.
    init(_ rate: RateLimit.Rate, at now: TimerInstant) {
        self.rate = rate
        content = Self.capacity(of: rate)
        present = now
    }

    /// Takes a token, and answers whether there was one.
    mutating func take(at now: TimerInstant) -> Bool {
        move(to: now)
        guard content >= Self.token(of: rate) else { return false }
        content -= Self.token(of: rate)
        return true
    }

    /// The time at which the next token is there, or that of a token after `others` more, if none goes before; for each of the
    /// others it may be a nanosecond later.
    mutating func nextToken(after others: Int = 0, at now: TimerInstant) -> TimerInstant {
        move(to: now)
        let missing = max(0, Self.token(of: rate) * (Int128(others) + 1) - content)
        let pace = Int128(rate.requests)
        return TimerInstant(nanoseconds: Int64(clamping: Int128(present.nanoseconds) + (missing + pace - 1) / pace))
    }

    /// Whether it equals a new one.
    func isFull(at now: TimerInstant) -> Bool {
        var later = self
        later.move(to: now)
        return later.content == Self.capacity(of: rate)
    }

    /// Continues at another pace, with the tokens that are there, also the begun token, up to the size of the bucket.
    mutating func change(to newRate: RateLimit.Rate, at now: TimerInstant) {
        move(to: now)
        // Token by token, because the product of a whole content and a period may be too large.
        let (tokens, begun) = content.quotientAndRemainder(dividingBy: Self.token(of: rate))
        let converted = tokens * Self.token(of: newRate) + begun * Self.token(of: newRate) / Self.token(of: rate)
        content = min(converted, Self.capacity(of: newRate))
        rate = newRate
    }

    /// Adds the tokens that come until `now`; an earlier instant than the last one counts as the last one.
    private mutating func move(to now: TimerInstant) {
        guard now > present else { return }
        let passed = Int128(now.nanoseconds) - Int128(present.nanoseconds)
        content = min(content + passed * Int128(rate.requests), Self.capacity(of: rate))
        present = now
    }

    private static func token(of rate: RateLimit.Rate) -> Int128 { Int128(rate.nanosecondsPerPeriod) }

    private static func capacity(of rate: RateLimit.Rate) -> Int128 { Int128(rate.burst) * token(of: rate) }
}
