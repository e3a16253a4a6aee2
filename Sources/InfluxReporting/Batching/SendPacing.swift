import LoaderChain

/// When the next batch may be sent, after how those before it ended.
struct SendPacing {
    /// The bound of the first delay of the writer's own.
    let firstDelay: Duration
    /// What the bound of its own delays never grows beyond.
    let maximumDelay: Duration
    /// The longest wait that a server can ask for.
    let maximumToldDelay: Duration

    /// How many batches in a row had to be kept.
    private(set) var failures = 0
    private(set) var pausedUntil: TimerInstant?
    /// Whether a server asked for the pause, so that nobody shortens it.
    private(set) var isTold = false

    init(firstDelay: Duration, maximumDelay: Duration, maximumToldDelay: Duration) {
        self.firstDelay = firstDelay
        self.maximumDelay = maximumDelay
        self.maximumToldDelay = maximumToldDelay
    }

    func isPaused(at now: TimerInstant) -> Bool { pausedUntil.map { now < $0 } ?? false }

    /// A batch was settled: nothing stands in the way of the next.
    mutating func succeeded() {
        failures = 0
        pausedUntil = nil
        isTold = false
    }

    /// A batch had to be kept.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - told: how long the server asks to wait; nil if it says nothing.
    ///   - roll: chance, from 0 up to 1. A delay of the writer's own is between half its bound and all of it, so that writers
    ///     that failed together part, and none of them hurries.
    mutating func failed(at now: TimerInstant, told: Duration?, roll: Double) {
        failures += 1
        let own = bound * (0.5 + roll / 2)
        let delay = told.map { max(own, min($0, maximumToldDelay)) } ?? own
        isTold = told != nil
        pausedUntil = now.advanced(by: delay)
    }

    private var bound: Duration {
        var bound = firstDelay
        var count = 1
        while count < failures, bound < maximumDelay {
            bound = bound * 2
            count += 1
        }
        return min(bound, maximumDelay)
    }

    /// Somebody cannot wait: ends a pause of the writer's own.
    mutating func hurry() {
        if !isTold { pausedUntil = nil }
    }

    /// The moment has come: ends a pause that is over.
    mutating func pass(to now: TimerInstant) {
        if !isPaused(at: now) { pausedUntil = nil }
    }
}
