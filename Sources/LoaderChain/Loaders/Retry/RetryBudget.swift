/// Limits the retries of a chain, so that they never multiply an outage.
///
/// A server that fails under its load must not get three times as many requests because it fails. Each request
/// therefore pays for a fifth of a retry, and retries are paid from what the requests of the last ten seconds have
/// saved; a hundred in ten seconds are always allowed, so that a quiet program can retry at all. When the budget is spent,
/// failures are final until more requests come.
///
/// ``Retry`` has its own budget unless you give it one. Loaders that use the same server may share a budget:
///
/// ```swift
/// let budget = RetryBudget()
/// let users = Retry(strategy, budget: budget) --> terminal
/// let photos = Retry(strategy, budget: budget) --> otherTerminal
/// ```
///
/// A ``Hedge`` takes its second attempts from the same budget, if you give it that.
///
/// Only requests with a strategy count. A retry counts when it is decided, even if it is cancelled during its delay.
public final class RetryBudget: Sendable {
    private let timers: any Timers
    private let state: Locked<RetryBudgetState>?

    /// An unlimited budget; for tests, and for servers that no number of retries can harm.
    public static let unlimited = RetryBudget(nil, SystemTimers.shared)

    private init(_ state: RetryBudgetState?, _ timers: any Timers) {
        self.timers = timers
        self.state = state.map(Locked.init)
    }

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - ratio: the number of retries that each request pays for.
    ///   - minimumPerSecond: the number of retries per second that are always allowed.
    ///   - window: for how long requests and retries count; at least a second.
    ///   - timers: the clock.
    public convenience init(
        ratio: Double = 0.2, minimumPerSecond: Int = 10, window: Duration = .seconds(10),
        timers: any Timers = SystemTimers.shared
    ) {
        // A shorter one would have no room for a single retry.
        let window = max(window, .seconds(1))
        self.init(RetryBudgetState(ratio: ratio, minimumPerSecond: minimumPerSecond, window: window), timers)
    }

    /// Notes a request, which pays for a part of a retry.
    func noteRequest() {
        change { $0.noteRequest(at: $1) }
    }

    /// Takes a retry from the budget, and returns whether there was one.
    ///
    /// - Parameter isThrottled: whether the server has refused the request because it got too many. Such a retry takes five
    ///   fourteenths of another: to refuse costs the server little, and the delay before the retry is longer.
    func takeRetry(isThrottled: Bool = false) -> Bool {
        change { $0.takeRetry(isThrottled: isThrottled, at: $1) } ?? true
    }

    /// Gives back a retry that was taken, but not made.
    func giveBackRetry() {
        change { $0.giveBackRetry(at: $1) }
    }

    /// The readings of a loader's budget; none for an unlimited budget.
    func readings(_ prefix: String) -> [LoaderReading] {
        let reading = remaining.map {
            LoaderReading.gauge(
                "\(prefix).budget.remaining", $0, unit: "{attempt}", "How many retries the budget allows now")
        }
        return [reading].compactMap(\.self)
    }

    /// How many retries are possible now; nil for an unlimited budget.
    public var remaining: Int? { change { $0.remaining(at: $1) } }

    /// Changes the state at the present; nil for an unlimited budget.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout RetryBudgetState, TimerInstant) -> Result) -> Result? {
        guard let state else { return nil }
        let now = timers.now
        return state.withLock { body(&$0, now) }
    }
}

/// The number of retries that are possible: a share of the recent requests, and always a few.
///
/// Everything is counted in millionths of a retry, so that rounding errors do not add up.
struct RetryBudgetState {
    private let deposit: Int64
    private let reserve: Int64
    private var saved: SlidingWindow<Int64>

    static var price: Int64 { 1_000_000 }
    /// The price of a retry after the server has refused to do any work.
    static var throttledPrice: Int64 { price * 5 / 14 }

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

    mutating func noteRequest(at now: TimerInstant) {
        saved.move(to: now)
        // More savings than any window needs; with these, no sum overflows.
        if saved.sum < .max / 4 { saved.add(deposit) }
    }

    mutating func takeRetry(isThrottled: Bool = false, at now: TimerInstant) -> Bool {
        saved.move(to: now)
        let price = isThrottled ? Self.throttledPrice : Self.price
        guard reserve + saved.sum >= price else { return false }
        saved.add(-price)
        return true
    }

    mutating func giveBackRetry(at now: TimerInstant) {
        saved.move(to: now)
        saved.add(Self.price)
    }

    mutating func remaining(at now: TimerInstant) -> Int {
        saved.move(to: now)
        return max(0, Int(clamping: (reserve + saved.sum) / Self.price))
    }
}
