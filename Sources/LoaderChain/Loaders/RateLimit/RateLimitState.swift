/// The lanes of a rate limit: one for all requests, or one for each host.
struct RateLimitState<Waiter> {
    typealias Lane = RateLimitLane<Waiter>

    private(set) var rates: [RateLimit.Rate]
    private let quotas: RateLimit.ServerQuotas?
    private let capacity: Int
    private var common: Lane
    private var lanes = HostTable<HTTPOrigin, Lane>()
    private var waiters = Lane.Waiters()

    init(_ rates: [RateLimit.Rate], quotas: RateLimit.ServerQuotas? = nil, capacity: Int, at now: TimerInstant) {
        self.rates = rates
        self.quotas = quotas
        self.capacity = capacity
        common = Lane(rates, quotas, at: now)
    }

    var waiting: Int { waiters.count }

    /// How many hosts have a lane of their own.
    var hosts: Int { lanes.count }

    /// The quotas that servers have reported, by their hosts; those of the common lane have none.
    var books: [(host: HTTPOrigin?, book: QuotaBook)] {
        let hosts = lanes.all.compactMap { host, lane in lane.book.map { (HTTPOrigin?.some(host), $0) } }
        return (common.book.map { [(nil, $0)] } ?? []) + hosts
    }

    /// Admits a task for `origin`, nil for the common lane; the rest is as for a lane.
    mutating func admit(
        _ arrival: Lane.Arrival, for origin: HTTPOrigin?, at now: TimerInstant
    ) -> Lane.Admission {
        guard let origin else { return common.admit(arrival, capacity: capacity, at: now, among: &waiters) }
        return lanes.withEntry(
            of: origin, orMake: { Lane(rates, quotas, at: now) }, sweeping: { $0.isIdle(at: now) }
        ) { $0.admit(arrival, capacity: capacity, at: now, among: &waiters) }
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

    mutating func change(to rates: [RateLimit.Rate], at now: TimerInstant) -> [LaneStep] {
        self.rates = rates
        return forEach { $0.change(to: rates, at: now, among: &$1) }
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

/// The buckets of tokens and the quotas of one server, and the tasks that wait for them: by their priorities, and first come, first served.
///
/// While tasks wait, the owner has its alarm set for the next turn. The waiters of all lanes are in one storage, which the
/// owner passes to every change. Every method changes the lane and returns what the owner must do, which it does after it has
/// unlocked.
struct RateLimitLane<Waiter> {
    typealias Waiters = LinkedNodes<Waiter, Int64>

    private var buckets: [TokenBucket]
    private(set) var book: QuotaBook?
    private var queues = PerPriority(Queue())
    private var turns = PriorityTurns()
    private(set) var waiting = 0
    private let alarm = Alarm()

    /// The waiters of one priority.
    private struct Queue {
        var ends = QueueEnds()
        var cost: Int64 = 0
        var count = 0
    }

    init(_ rates: [RateLimit.Rate], _ quotas: RateLimit.ServerQuotas?, at now: TimerInstant) {
        buckets = rates.map { TokenBucket($0, at: now) }
        book = quotas.map { QuotaBook($0, at: now) }
    }

    struct Arrival {
        /// The object that waits if it is not the task's turn; nil to learn whether the task has to wait.
        var waiter: Waiter?
        var cost: Int64 = 1
        var priority = ThrottlePriority.normal
        /// The time by which it must be the waiter's turn.
        var deadline = TimerInstant.never
    }

    enum Admission {
        case passes(Pass)
        /// The task has to wait; admit it again, as a waiter.
        case mustWait
        /// The task waits at a place; the alarm has to be set if the next turn is its.
        case waits(QueuePlace, Alarm?)
        /// The queue is full. The next turn comes after this time.
        case refused(Duration)
        /// The task's turn would come after this time, which is too late for its deadline.
        case tooLate(Duration)
    }

    /// What must be kept of a task that is passed on, until it ends.
    struct Pass: Hashable, Sendable {
        var cost: Int64
        /// Its number in the books of quotas; 0 if it need not be kept.
        var number: UInt64 = 0
    }

    mutating func admit(
        _ arrival: Arrival, capacity: Int, at now: TimerInstant, among waiters: inout Waiters
    ) -> Admission {
        // Waiting tasks go first, also if it is their turn and the alarm is only about to ring.
        if waiting == 0, let pass = take(arrival.cost, at: now) { return .passes(pass) }
        guard waiting < capacity else {
            return .refused(
                now.duration(to: max(now, alarmTime(at: now, among: waiters) ?? turn(for: arrival.cost, at: now))))
        }
        guard let waiter = arrival.waiter else { return .mustWait }
        if arrival.deadline != .never {
            // Those of other priorities may go before or after it.
            let queue = queues[arrival.priority]
            let turn = max(
                earliestTurn(for: arrival.cost, after: queue.count, theirCost: queue.cost, at: now),
                book?.pauseEnd ?? now)
            guard turn < arrival.deadline else { return .tooLate(now.duration(to: turn)) }
        }
        let next = nextPriority(at: now)
        if queues[arrival.priority].count == 0 { turns.forget(arrival.priority) }
        waiting += 1
        let place = queues.change(arrival.priority) { queue in
            queue.count += 1
            queue.cost += arrival.cost
            return waiters.append(waiter, arrival.cost, to: &queue.ends)
        }
        return .waits(place, next == nextPriority(at: now) ? nil : alarm)
    }

    /// The time of the next turn, for which the alarm is set, if tasks wait for it.
    mutating func alarmTime(at now: TimerInstant, among waiters: Waiters) -> TimerInstant? {
        guard let priority = nextPriority(at: now) else { return nil }
        return turn(for: waiters.firstNote(in: queues[priority].ends) ?? 1, at: now)
    }

    /// Takes out a task that no longer waits; nil if it has left.
    mutating func leave(
        _ place: QueuePlace, of priority: ThrottlePriority, among waiters: inout Waiters
    ) -> Left? {
        let isFirst = waiters.firstArrival(in: queues[priority].ends) == place.arrival
        guard let cost = waiters.note(at: place),
            let waiter = queues.change(priority, { waiters.remove(place, from: &$0.ends) })
        else { return nil }
        count(out: cost, of: priority)
        return Left(waiter: waiter, alarm: isFirst ? alarm : nil)
    }

    /// A waiter that left before its turn, and the alarm to set again if the next turn may have been its.
    struct Left {
        let waiter: Waiter
        let alarm: Alarm?
    }

    /// What the owner must do after a change: pass the waiters on, in order, and set the alarm.
    struct Step {
        var passing: [(waiter: Waiter, pass: Pass)] = []
        let alarm: Alarm
    }

    /// Passes on those whose turn has come.
    mutating func step(at now: TimerInstant, among waiters: inout Waiters) -> Step {
        var step = Step(alarm: alarm)
        while let priority = nextPriority(at: now), let cost = waiters.firstNote(in: queues[priority].ends),
            let pass = take(cost, at: now), let waiter = popFirst(of: priority, among: &waiters)
        {
            step.passing.append((waiter, pass))
            turns.count(priority, past: queues.map { $0.count > 0 }, at: now)
        }
        return step
    }

    mutating func change(to rates: [RateLimit.Rate], at now: TimerInstant, among waiters: inout Waiters) -> Step {
        for index in rates.indices {
            if index < buckets.count {
                buckets[index].change(to: rates[index], at: now)
            } else {
                buckets.append(TokenBucket(rates[index], at: now))
            }
        }
        buckets.removeLast(buckets.count - rates.count)
        return step(at: now, among: &waiters)
    }

    /// Notes the end of a task that was passed on; nil if nothing has to be done.
    mutating func note(_ end: QuotaBook.End, at now: TimerInstant, among waiters: inout Waiters) -> Step? {
        for index in buckets.indices where buckets[index].rate.isOfCost && end.cost != end.expectedCost {
            buckets[index].correct(by: end.cost - end.expectedCost, at: now)
        }
        book?.note(end, at: now)
        return waiting > 0 ? step(at: now, among: &waiters) : nil
    }

    /// Counts how long the machine has slept, during which the time of the server goes on; nil if nothing has to be done.
    mutating func countSleep(until reading: ClockReading, among waiters: inout Waiters) -> Step? {
        book?.countSleep(until: reading) == true ? step(at: reading.instant, among: &waiters) : nil
    }

    /// Takes out all that wait; the tokens stay as they are, since the server that counts requests does not know of it.
    mutating func removeAll(among waiters: inout Waiters) -> Step {
        var step = Step(alarm: alarm)
        for priority in ThrottlePriority.allCases {
            while let waiter = popFirst(of: priority, among: &waiters) { step.passing.append((waiter, Pass(cost: 0))) }
        }
        return step
    }

    /// Whether it equals a new lane.
    func isIdle(at now: TimerInstant) -> Bool {
        waiting == 0 && buckets.allSatisfy { $0.isFull(at: now) } && book?.isIdle(at: now) != false
    }

    // MARK: Turns

    private func nextPriority(at now: TimerInstant) -> ThrottlePriority? {
        waiting == 0 ? nil : turns.turn(among: queues.map { $0.count > 0 }, at: now)
    }

    /// The earliest time at which a request may be passed on before all that wait.
    private mutating func turn(for cost: Int64, at now: TimerInstant) -> TimerInstant {
        let turn = earliestTurn(for: cost, after: 0, theirCost: 0, at: now)
        return max(turn, book?.turn(for: cost, at: now) ?? turn)
    }

    /// The earliest time at which the buckets let a request pass after others.
    private mutating func earliestTurn(
        for cost: Int64, after others: Int, theirCost: Int64, at now: TimerInstant
    ) -> TimerInstant {
        var turn = now
        for index in buckets.indices {
            let tokens = buckets[index].rate.isOfCost ? theirCost : Int64(others)
            turn = max(turn, buckets[index].turn(for: cost, after: tokens, at: now))
        }
        return turn
    }

    /// Takes what a request needs, if it is all there.
    @inline(__always)
    private mutating func take(_ cost: Int64, at now: TimerInstant) -> Pass? {
        for index in buckets.indices where !buckets[index].has(cost, at: now) { return nil }
        if book?.isQuiet(at: now) == false, let turn = book?.turn(for: cost, at: now), turn > now { return nil }
        for index in buckets.indices { buckets[index].take(cost) }
        return Pass(cost: cost, number: book?.pass(cost, at: now) ?? 0)
    }

    private mutating func popFirst(of priority: ThrottlePriority, among waiters: inout Waiters) -> Waiter? {
        guard let (waiter, cost) = queues.change(priority, { waiters.popFirst(of: &$0.ends) }) else { return nil }
        count(out: cost, of: priority)
        return waiter
    }

    private mutating func count(out cost: Int64, of priority: ThrottlePriority) {
        waiting -= 1
        queues.change(priority) {
            $0.count -= 1
            $0.cost -= cost
        }
    }
}

/// A token bucket: tokens come at an even pace until the bucket is full, and each request takes one, or as many as it costs.
///
/// Everything is counted in whole numbers. The unit is what one nanosecond adds for a single token per period. So a token has
/// as many units as the period has nanoseconds, and each nanosecond adds a unit for each token per period.
///
/// A request that costs more than the bucket holds passes when it is full, and the next one waits until what it took has come. In
/// any stretch of time, no more tokens go than the bucket holds and than come meanwhile, but for the excess of one request.
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

    @inline(__always)
    mutating func has(_ cost: Int64, at now: TimerInstant) -> Bool {
        move(to: now)
        return content >= needed(for: tokens(for: cost))
    }

    @inline(__always)
    mutating func take(_ cost: Int64) { content -= Self.token(of: rate) * Int128(tokens(for: cost)) }

    /// Takes more tokens, or gives some back, because a request has cost more or less than expected.
    ///
    /// No correction takes more than a period's tokens in advance: the cost may come from a server, which could stop the program for days.
    mutating func correct(by difference: Int64, at now: TimerInstant) {
        move(to: now)
        let least = min(content, -Self.token(of: rate) * Int128(rate.amount))
        content = min(max(content - Self.token(of: rate) * Int128(difference), least), Self.capacity(of: rate))
    }

    /// The time at which the tokens for a request are there after others have `taken` theirs, if none goes before; for each of the
    /// others it may be a nanosecond later.
    mutating func turn(for cost: Int64, after taken: Int64 = 0, at now: TimerInstant) -> TimerInstant {
        move(to: now)
        let missing = max(0, Self.token(of: rate) * Int128(taken) + needed(for: tokens(for: cost)) - content)
        let pace = Int128(rate.amount)
        return TimerInstant(nanoseconds: Int64(clamping: Int128(present.nanoseconds) + (missing + pace - 1) / pace))
    }

    /// Whether it equals a new bucket.
    func isFull(at now: TimerInstant) -> Bool {
        var later = self
        later.move(to: now)
        return later.content == Self.capacity(of: rate)
    }

    /// Continues at another pace, with the tokens that are there, also the begun token, up to the size of the bucket.
    ///
    /// Tokens of cost are not tokens of requests: then it begins with a full bucket.
    mutating func change(to newRate: RateLimit.Rate, at now: TimerInstant) {
        guard newRate.isOfCost == rate.isOfCost else { return self = TokenBucket(newRate, at: now) }
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
        content = min(content + passed * Int128(rate.amount), Self.capacity(of: rate))
        present = now
    }

    private func tokens(for cost: Int64) -> Int64 { rate.isOfCost ? cost : 1 }

    /// What must be there for that many tokens: not more than the bucket holds.
    private func needed(for tokens: Int64) -> Int128 { Self.token(of: rate) * Int128(min(tokens, Int64(rate.burst))) }

    private static func token(of rate: RateLimit.Rate) -> Int128 { Int128(rate.nanosecondsPerPeriod) }

    private static func capacity(of rate: RateLimit.Rate) -> Int128 { Int128(rate.burst) * token(of: rate) }
}
