/// How many retries may still be made: a part of the requests of the last while, and always a few.
///
/// All is counted in millionths of a retry, so that no rounding adds up.
struct RetryBudgetState {
    private let deposit: Int64
    private let reserve: Int64
    private var saved: SlidingWindow<Int64>

    /// What one retry takes.
    static var price: Int64 { 1_000_000 }

    /// Makes a budget of `ratio` retries per request, and at least `minimumPerSecond` retries, over a sliding window.
    init(ratio: Double, minimumPerSecond: Int, window: Duration) {
        // Settings beyond these are as good as no limit, and no product of them overflows.
        let largestRatio = 1_000.0
        let mostPerSecond = Int(Int32.max)
        deposit = ratio > 0 ? Int64((min(ratio, largestRatio) * Double(Self.price)).rounded()) : 0
        let perSecond = Int128(min(max(0, minimumPerSecond), mostPerSecond)) * Int128(Self.price)
        let reserve = perSecond * Int128(max(0, window.saturatedNanoseconds)) / 1_000_000_000
        // Half of the range is left for what is saved beyond it.
        self.reserve = Int64(min(reserve, Int128(Int64.max / 2)))
        saved = SlidingWindow(window)
    }

    /// Notes a request, which pays for a part of a retry.
    mutating func noteRequest(at now: TimerInstant) {
        saved.move(to: now)
        saved.add(deposit)
    }

    /// Takes a retry from the budget, and answers whether there was one.
    mutating func takeRetry(at now: TimerInstant) -> Bool {
        guard remaining(at: now) > 0 else { return false }
        saved.add(-Self.price)
        return true
    }

    /// How many retries could be taken.
    mutating func remaining(at now: TimerInstant) -> Int {
        saved.move(to: now)
        return max(0, Int((reserve + saved.sum) / Self.price))
    }
}
