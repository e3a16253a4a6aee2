import LoaderChain

/// When the next batch may be sent, after how those before it ended.
struct SendPacing {
    private let pacing: Pacing

    /// How many batches in a row had to be kept.
    private(set) var failures = 0
    private(set) var pausedUntil: TimerInstant?
    /// Whether a server asked for the pause, so that a flush does not shorten it.
    private(set) var isTold = false

    init(_ pacing: Pacing) { self.pacing = pacing }

    func isPaused(at now: TimerInstant) -> Bool { pausedUntil.map { now < $0 } ?? false }

    /// Notes that a batch was settled, so that the next may leave at once.
    mutating func succeeded() {
        failures = 0
        pausedUntil = nil
        isTold = false
    }

    /// Notes that a batch had to be kept.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - told: how long the server asks to wait; nil if it says nothing.
    ///   - roll: chance, from 0 up to 1.
    mutating func failed(at now: TimerInstant, told: Duration?, roll: Double) {
        failures += 1
        isTold = told != nil
        pausedUntil = now.advanced(by: pacing.delay(afterFailures: failures, asked: told, roll: roll))
    }

    /// Ends a pause of the writer's own, for a flush.
    mutating func hurry() {
        if !isTold { pausedUntil = nil }
    }

    /// Ends a pause that is over.
    mutating func pass(to now: TimerInstant) {
        if !isPaused(at: now) { pausedUntil = nil }
    }
}
