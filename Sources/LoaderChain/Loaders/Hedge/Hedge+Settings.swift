extension Hedge {
    /// When a second attempt is sent, and how many there may be.
    public struct Settings: Hashable, Sendable {
        /// The share of the response times that the delay covers, from 0 to 1: with 0.95, about every twentieth request
        /// is slow enough to be hedged.
        ///
        /// No time that is shorter than the delay can improve. Leave ``share`` at `1 - quantile` or more.
        public var quantile: Double
        /// How many hedges each request pays for, from 0 to 1.
        ///
        /// There are never more hedges than this share of the requests, whatever happens.
        public var share: Double
        /// How many hedges may be saved up for a time at which many requests are slow.
        public var burst: Int
        /// How many response times of its kind must be known before a request is hedged.
        public var minimumNumberOfSamples: Int
        /// The shortest delay.
        public var minimumDelay: Duration
        /// The longest delay.
        public var maximumDelay: Duration
        /// How long nothing is hedged at a host after it has asked for fewer requests.
        public var pause: Duration
        /// The longest pause that a server can request with `Retry-After`.
        public var maximumPause: Duration

        /// Makes settings; with the defaults, there are at most 5 % more requests.
        public init(
            quantile: Double = 0.95, share: Double = 0.05, burst: Int = 10, minimumNumberOfSamples: Int = 50,
            minimumDelay: Duration = .milliseconds(5), maximumDelay: Duration = .seconds(10),
            pause: Duration = .seconds(10), maximumPause: Duration = .seconds(60)
        ) {
            self.quantile = quantile
            self.share = share
            self.burst = burst
            self.minimumNumberOfSamples = minimumNumberOfSamples
            self.minimumDelay = minimumDelay
            self.maximumDelay = maximumDelay
            self.pause = pause
            self.maximumPause = maximumPause
        }

        /// The quantile from 0 to 1, and the longest time for what is no number.
        var usableQuantile: Double { quantile.isNaN ? 1 : min(max(0, quantile), 1) }

        /// A delay within the bounds; the lower one wins where they contradict each other.
        func bounded(_ delay: Duration) -> Duration { max(minimumDelay, .zero, min(delay, maximumDelay)) }
    }
}
