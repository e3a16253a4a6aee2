/// The number of retries that are possible: a share of the recent requests, and always a few.
///
/// Everything is counted in millionths of a retry, so that rounding errors do not add up.
struct RetryBudgetState {
    private let deposit: Int64
    private let reserve: Int64
    private var saved: SlidingWindow<Int64>

    static var price: Int64 { 1_000_000 }

    /// Makes a budget of `ratio` retries per request, and at least `minimumPerSecond` retries, over a sliding window.
    init(ratio: Double, minimumPerSecond: Int, window: Duration) {
        // Larger settings amount to no limit, and with these no product overflows.
        let largestRatio = 1_000.0
        let mostPerSecond = Int(Int32.max)
        deposit = ratio > 0 ? Int64((min(ratio, largestRatio) * Double(Self.price)).rounded()) : 0
        let perSecond = Int128(min(max(0, minimumPerSecond), mostPerSecond)) * Int128(Self.price)
        let reserve = perSecond * Int128(max(0, window.saturatedNanoseconds)) / 1_000_000_000
        // Half of the range is left for savings.
        self.reserve = Int64(min(reserve, Int128(Int64.max / 2)))
        saved = SlidingWindow(window)
    }

    /// Notes a request, which pays for a part of a retry.
    mutating func noteRequest(at now: TimerInstant) {
        saved.move(to: now)
        // More savings than any window needs; with these, no sum overflows.
        if saved.sum < .max / 4 { saved.add(deposit) }
    }

    /// Takes a retry from the budget, and returns whether there was one.
    mutating func takeRetry(at now: TimerInstant) -> Bool {
        guard remaining(at: now) > 0 else { return false }
        saved.add(-Self.price)
        return true
    }

    /// Gives back a retry that was taken, but not made.
    mutating func giveBackRetry(at now: TimerInstant) {
        saved.move(to: now)
        saved.add(Self.price)
    }

    /// How many retries are possible.
    mutating func remaining(at now: TimerInstant) -> Int {
        saved.move(to: now)
        return max(0, Int((reserve + saved.sum) / Self.price))
    }
}
