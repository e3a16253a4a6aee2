import LoaderChain

/// Counts, for each flush that waits, what became of its points.
///
/// A flush waits for all parcels up to a number. It is credited with what happens to each of them, and ends when all of them
/// are settled.
struct FlushLedger<Waiter> {
    private struct Entry {
        let id: Int
        let target: UInt64
        var report = FlushReport()
        let waiter: Waiter
    }

    private var entries: [Entry] = []

    /// The first number behind which a batch may not go, so that each batch belongs to a flush as a whole or not at all.
    func border(from number: UInt64) -> UInt64? {
        entries.lazy.map(\.target).filter { $0 >= number }.min()
    }

    mutating func add(_ waiter: Waiter, id: Int, target: UInt64) {
        entries.append(Entry(id: id, target: target, waiter: waiter))
    }

    /// Notes what became of points of a parcel, for every flush that waits for it.
    mutating func credit(_ number: UInt64, _ note: (inout FlushReport) -> Void) {
        for index in entries.indices where entries[index].target >= number { note(&entries[index].report) }
    }

    /// Takes out the flushes whose points are all settled.
    mutating func takeDone(oldestOutstanding: UInt64?) -> [(Waiter, FlushReport)] {
        let oldest = oldestOutstanding ?? .max
        let done = entries.filter { $0.target < oldest }
        if !done.isEmpty { entries.removeAll { $0.target < oldest } }
        return done.map { ($0.waiter, $0.report) }
    }

    /// Takes out the flushes that wait for a parcel that is kept and not tried again soon.
    mutating func takeAll(
        waitingFor number: UInt64, outstanding: (UInt64) -> Int, because cause: FlushReport.KeepCause
    ) -> [(Waiter, FlushReport)] {
        let ended = entries.filter { $0.target >= number }
        entries.removeAll { $0.target >= number }
        return ended.map { ($0.waiter, $0.report.keeping(outstanding($0.target), because: cause)) }
    }

    /// Takes out a flush that waits no longer.
    mutating func take(
        _ id: Int, outstanding: (UInt64) -> Int, because cause: FlushReport.KeepCause
    ) -> (Waiter, FlushReport)? {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
        let entry = entries.remove(at: index)
        return (entry.waiter, entry.report.keeping(outstanding(entry.target), because: cause))
    }
}

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
