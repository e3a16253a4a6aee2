extension RateLimit {
    /// How many requests may pass in what time.
    ///
    /// Values that make no sense become the nearest ones that do, so that a rate can come from afar without harm. There is
    /// no rate of zero; to stop everything, there is the throttle.
    public struct Rate: Hashable, Sendable {
        /// How many requests may pass in each period in the long run, at least 1.
        public let requests: Int
        /// How many may pass at once after a quiet time, at least 1.
        public let burst: Int
        let nanosecondsPerPeriod: Int64

        /// The period, at least a nanosecond.
        public var period: Duration { .nanoseconds(nanosecondsPerPeriod) }

        /// Makes a rate of so many requests per period.
        public init(requests: Int, per period: Duration, burst: Int = 1) {
            // No product of a time and a count of these overflows.
            let most = Int(Int32.max)
            self.requests = min(max(1, requests), most)
            self.burst = min(max(1, burst), most)
            nanosecondsPerPeriod = max(1, period.saturatedNanoseconds)
        }
    }

    /// What becomes of a request that comes too early.
    public enum Waiting: Hashable, Sendable {
        /// It waits for its turn, unless so many wait already: then it fails as ``HTTPError/Code/rateLimited``.
        ///
        /// Where there is a limit per host, so many may wait for each.
        case queue(maximum: Int)
        /// It fails at once, as ``HTTPError/Code/rateLimited``.
        case refuse

        var maximum: Int {
            switch self {
            case .queue(let maximum): maximum
            case .refuse: 0
            }
        }
    }
}

extension RateLimit.Rate: CustomStringConvertible {
    /// The rate in words, as in `10 per 1.0 seconds, burst 1`.
    public var description: String { "\(requests) per \(period), burst \(burst)" }
}
