/// The lanes of a rate limit: one for all requests, or one for each host.
struct RateLimitState<Waiter: LineEntry> {
    typealias Lane = RateLimitLane<Waiter>

    private(set) var rate: RateLimit.Rate
    private let room: Int
    private var common: Lane
    private var lanes = HostTable<Lane>()

    init(_ rate: RateLimit.Rate, waiting: RateLimit.Waiting, at now: TimerInstant) {
        self.rate = rate
        room = waiting.maximum
        common = Lane(rate, at: now)
    }

    /// How many wait in all.
    var waiting: Int { lanes.all.values.reduce(common.waiting) { $0 + $1.waiting } }

    /// How many hosts have a lane of their own.
    var hosts: Int { lanes.all.count }

    /// Admits one who arrives for `host`, nil for the common lane; the rest is as for a lane.
    mutating func admit(_ waiter: Waiter?, for host: String?, at now: TimerInstant) -> Lane.Admission {
        guard let host else { return common.admit(waiter, room: room, at: now) }
        return lanes.withEntry(of: host, orMake: { Lane(rate, at: now) }, sweeping: { $0.isIdle(at: now) }) {
            $0.admit(waiter, room: room, at: now)
        }
    }

    /// Changes the lane of `host`, nil for the common one; does nothing for a host without a lane.
    mutating func withLane<Result>(of host: String?, _ body: (inout Lane) -> Result?) -> Result? {
        guard let host else { return body(&common) }
        return lanes.withEntry(of: host, body) ?? nil
    }

    /// Goes on at another pace, and returns what there is to do in which lane.
    mutating func change(to rate: RateLimit.Rate, at now: TimerInstant) -> [(host: String?, step: Lane.Step)] {
        self.rate = rate
        return forEach { $0.change(to: rate, at: now) }
    }

    /// Sends everybody away.
    mutating func removeAll() -> [(host: String?, step: Lane.Step)] {
        forEach { $0.removeAll() }
    }

    private mutating func forEach(_ body: (inout Lane) -> Lane.Step) -> [(host: String?, step: Lane.Step)] {
        var steps: [(host: String?, step: Lane.Step)] = [(nil, body(&common))]
        lanes.forEach { host, lane in steps.append((host, body(&lane))) }
        return steps
    }
}
