import LoaderChain

/// Counts the outcomes of points for each waiting flush.
///
/// A flush waits for all parcels up to a number. It is credited with the outcome of each of them, and ends when all of them are
/// settled.
struct FlushLedger<Waiter> {
    private struct Entry {
        let id: Int
        let target: UInt64
        var report = FlushReport()
        let waiter: Waiter
    }

    private var entries: [Entry] = []

    /// The number of the last parcel that a batch may contain, so that each batch belongs to a flush as a whole or not at all.
    func border(from number: UInt64) -> UInt64? {
        entries.lazy.map(\.target).filter { $0 >= number }.min()
    }

    mutating func add(_ waiter: Waiter, id: Int, target: UInt64) {
        entries.append(Entry(id: id, target: target, waiter: waiter))
    }

    /// Records the outcome of points of a parcel for every flush that waits for it.
    mutating func credit(_ number: UInt64, _ note: (inout FlushReport) -> Void) {
        for index in entries.indices where entries[index].target >= number { note(&entries[index].report) }
    }

    /// Removes and returns the flushes whose points are all settled.
    mutating func takeDone(oldestOutstanding: UInt64?) -> [(Waiter, FlushReport)] {
        let oldest = oldestOutstanding ?? .max
        let done = entries.filter { $0.target < oldest }
        if !done.isEmpty { entries.removeAll { $0.target < oldest } }
        return done.map { ($0.waiter, $0.report) }
    }

    /// Removes and returns the flushes that wait for a pending parcel that is not sent again soon.
    mutating func takeAll(
        waitingFor number: UInt64, outstanding: (UInt64) -> Int, because cause: FlushReport.PendingReason
    ) -> [(Waiter, FlushReport)] {
        let ended = entries.filter { $0.target >= number }
        entries.removeAll { $0.target >= number }
        return ended.map { ($0.waiter, $0.report.pending(outstanding($0.target), because: cause)) }
    }

    /// Removes and returns a flush that stops waiting.
    mutating func take(
        _ id: Int, outstanding: (UInt64) -> Int, because cause: FlushReport.PendingReason
    ) -> (Waiter, FlushReport)? {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
        let entry = entries.remove(at: index)
        return (entry.waiter, entry.report.pending(outstanding(entry.target), because: cause))
    }
}

/// Decides when the next batch may be sent, depending on the outcomes of earlier batches.
struct SendPacing {
    private let pacing: Pacing

    /// The number of failed batches in a row.
    private(set) var failures = 0
    private(set) var pausedUntil: TimerInstant?
    /// Whether a server asked for the pause, so that a flush does not shorten it.
    private(set) var isRequested = false
    /// How long the machine sleeps, which the clock of the timers leaves out.
    private var sleep: SleepMeter?

    init(_ pacing: Pacing) { self.pacing = pacing }

    /// The time to look whether the pause is over; nil if there is none.
    var nextLook: TimerInstant? {
        guard let pausedUntil, let sleep else { return pausedUntil }
        return min(pausedUntil, sleep.lastInstant.advanced(by: SleepMeter.longestAlarm))
    }

    /// Shortens the pause by how long the machine has slept since the last call.
    mutating func countSleep(until reading: ClockReading) {
        if sleep == nil { sleep = SleepMeter(reading) }
        guard let slept = sleep?.read(reading).slept, slept > .zero else { return }
        pausedUntil = pausedUntil?.advanced(by: .zero - slept)
    }

    func isPaused(at now: TimerInstant) -> Bool { pausedUntil.map { now < $0 } ?? false }

    /// Records that a batch was settled, so that the next may be sent at once.
    ///
    /// A pause that a server asked for goes on: the batch was sent before the server asked.
    mutating func succeeded(at now: TimerInstant) {
        if isAskedToWait(at: now) { return }
        failures = 0
        pausedUntil = nil
        isRequested = false
    }

    /// Records that a batch failed; a pause that a server asked for does not become shorter.
    ///
    /// - Parameters:
    ///   - delay: the delay that the server asked for; nil if there is none.
    ///   - roll: a random number, from 0 up to 1.
    mutating func failed(at now: TimerInstant, requested delay: Duration?, roll: Double) {
        failures += 1
        let end = now.advanced(by: pacing.delay(afterFailures: failures, asked: delay, roll: roll))
        if isAskedToWait(at: now), let pausedUntil, delay == nil || end < pausedUntil { return }
        isRequested = delay != nil
        pausedUntil = end
    }

    private func isAskedToWait(at now: TimerInstant) -> Bool { isRequested && isPaused(at: now) }

    /// Ends a pause for a flush, unless a server asked for it.
    mutating func hurry() {
        if !isRequested { pausedUntil = nil }
    }

    /// Ends a pause that is over.
    mutating func pass(to now: TimerInstant) {
        if !isPaused(at: now) { pausedUntil = nil }
    }
}
