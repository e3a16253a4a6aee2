/// The lanes of a rate limit: one for all requests, or one for each host.
struct RateLimitState<Waiter> {
    typealias Lane = RateLimitLane<Waiter>

    private(set) var rate: RateLimit.Rate
    private let room: Int
    private var common: Lane
    private var lanes = HostTable<HTTPOrigin, Lane>()
    private var waiters = Lane.Waiters()
    /// How many have asked for a token, from the beginning.
    private(set) var arrivals: UInt64 = 0

    init(_ rate: RateLimit.Rate, waiting: RateLimit.Waiting, at now: TimerInstant) {
        self.rate = rate
        room = waiting.maximum
        common = Lane(rate, at: now)
    }

    /// How many wait in all.
    var waiting: Int { waiters.count }

    /// How many hosts have a lane of their own.
    var hosts: Int { lanes.all.count }

    /// Admits one that arrives for `origin`, nil for the common lane; the rest is as for a lane.
    mutating func admit(
        _ waiter: Waiter?, for origin: HTTPOrigin?, until deadline: TimerInstant = .never, at now: TimerInstant
    ) -> Lane.Admission {
        // One that has to wait comes a second time, with what it waits with.
        if waiter == nil { arrivals &+= 1 }
        guard let origin else {
            return common.admit(waiter, until: deadline, room: room, at: now, among: &waiters)
        }
        return lanes.withEntry(of: origin, orMake: { Lane(rate, at: now) }, sweeping: { $0.isIdle(at: now) }) {
            $0.admit(waiter, until: deadline, room: room, at: now, among: &waiters)
        }
    }

    /// Changes the lane of `origin`, nil for the common one; does nothing for one without a lane.
    mutating func withLane<Result>(
        of origin: HTTPOrigin?, _ body: (inout Lane, inout Lane.Waiters) -> Result?
    ) -> Result? {
        guard let origin else { return body(&common, &waiters) }
        return lanes.withEntry(of: origin) { body(&$0, &waiters) } ?? nil
    }

    /// What there is to do in the lane of a host, nil for the common one.
    typealias LaneStep = (origin: HTTPOrigin?, step: Lane.Step)

    /// Goes on at another pace.
    mutating func change(to rate: RateLimit.Rate, at now: TimerInstant) -> [LaneStep] {
        self.rate = rate
        return forEach { $0.change(to: rate, at: now, among: &$1) }
    }

    /// Takes out all that wait.
    mutating func removeAll() -> [LaneStep] {
        forEach { $0.removeAll(among: &$1) }
    }

    private mutating func forEach(_ body: (inout Lane, inout Lane.Waiters) -> Lane.Step) -> [LaneStep] {
        var steps: [LaneStep] = [(nil, body(&common, &waiters))]
        lanes.forEach { origin, lane in steps.append((origin, body(&lane, &waiters))) }
        return steps
    }
}
