import Dispatch
import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Runs an outbox: the state behind its lock, the files, and a queue for all work except submissions.
///
/// The state decides under the lock. The engine carries the decisions out after unlocking: on disk, in the chain, or in the app.
/// Only one thread at a time handles a report, according to its phase. No code of the app runs under the lock.
final class OutboxEngine: Sendable {
    let store: ReportStore
    let chain: HTTPLoader
    let settings: OutboxSettings
    let check: RequestCheck
    let existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)?
    let listeners: Listeners<ReportEvent>
    let shared: Locked<Shared>
    let alarm = Alarm()
    private let queue = DispatchQueue(label: "ReportOutbox")

    struct Shared {
        var outbox: OutboxState
        var clock: OutboxClock
        /// The lock of the directory, held while any work of this outbox is under way.
        var ownership: (any Sendable)?
        /// Whether the directory was unlocked.
        var isFree = false
        var counters = OutboxCounters()
        /// The counts of lost reports that servers have not received yet.
        var discards = DiscardLedger()
        /// The submissions that wait until a report with their identifier has been stored or removed.
        var waiters: [ReportID: [DispatchSemaphore]] = [:]
        var running: [UInt64: RunningAttempt] = [:]
        var deadLetters = DeadLetters()
        /// Files of dead letters that are back in the outbox.
        var deadLetterLeftovers: [DeadLetterName] = []
        /// Files of removed reports that could not be deleted.
        var remains: [StoredFile] = []
        var isPumpScheduled = false
        /// Blocks on the queue that have not ended.
        var pendingWork = 0
        /// Calls of the app that have not returned.
        var visitors = 0
        /// The calls of `close()` that wait until all work has ended.
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    init(
        _ store: ReportStore, ownership: any Sendable, chain: HTTPLoader, settings: OutboxSettings,
        existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)?,
        onEvent: (@Sendable (ReportEvent) -> Void)?
    ) {
        self.store = store
        self.chain = chain
        self.settings = settings
        self.existing = existing
        listeners = Listeners(onEvent)
        check = RequestCheck(settings)
        let clock = OutboxClock(ClockReading(settings.timers))
        shared = Locked(Shared(outbox: OutboxState(settings), clock: clock, ownership: ownership))
    }

    // MARK: Time

    /// The current time, which is read outside the lock, because the app may provide the timers.
    var now: ClockReading { ClockReading(settings.timers) }

    /// Locks the state at the current time.
    func withTime<Result>(_ body: (inout Shared, TimerInstant, ClockReading) -> Result) -> Result {
        let now = now
        return shared.withLock { shared in
            let time = shared.time(now)
            return body(&shared, time, now)
        }
    }

    // MARK: The queue

    func enqueue(_ work: @escaping @Sendable () -> Void) {
        shared.withLock { $0.pendingWork += 1 }
        perform(work)
    }

    /// Enqueues work that is already counted as pending.
    private func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            work()
            shared.withLock { $0.pendingWork -= 1 }
            endIfDone()
        }
    }

    /// Registers a call that works on the files outside the queue; returns false once the outbox is closed.
    func enter() -> Bool {
        shared.withLock { shared in
            if !shared.outbox.isClosed { shared.visitors += 1 }
            return !shared.outbox.isClosed
        }
    }

    func exit() {
        shared.withLock { $0.visitors -= 1 }
        endIfDone()
    }

    /// Schedules the sending of due reports.
    func schedulePump() {
        let isNew = shared.withLock { shared in
            // Another outbox may have the directory by then.
            guard !shared.outbox.isClosed else { return false }
            defer { shared.isPumpScheduled = true }
            return !shared.isPumpScheduled
        }
        if isNew { enqueue { [self] in pump() } }
    }

    /// Waits until the queue is idle; attempts may still be under way.
    func drain() {
        while shared.withLock({ $0.pendingWork > 0 }) { queue.sync {} }
        // The last block decrements the count before it unlocks the directory.
        queue.sync {}
    }

    // MARK: Events

    func emit(_ event: ReportEvent) {
        shared.withLock { $0.counters.count(event) }
        listeners.tell(event)
    }

    func trouble(_ failure: FileFailure) { emit(.trouble("\(failure)")) }

    // MARK: The end

    /// Stops sending, and cancels all attempts.
    func stop() {
        let (saves, running) = shared.withLock { shared in
            let saves = !replace(&shared.outbox.isClosed, with: true) && shared.discards.isDirty
            // Counted immediately, because later the directory may belong to another outbox.
            if saves { shared.pendingWork += 1 }
            return (saves, shared.running)
        }
        alarm.end()
        for attempt in running.values { cancel(attempt.task) }
        if saves { perform { [self] in saveDiscards() } }
        endIfDone()
    }

    func waitUntilStopped() async {
        await withCheckedContinuation { continuation in
            shared.withLock { $0.closers.append(continuation) }
            endIfDone()
        }
    }

    /// Unlocks the directory once the outbox is closed and all work has ended, and resumes the calls that wait for it.
    private func endIfDone() {
        if giveUp() {
            listeners.end()
            shared.withLock { $0.isFree = true }
        }
        // Not before the directory is unlocked: another thread may be about to unlock it.
        for closer in shared.withLock({ $0.takeClosers() }) { closer.resume() }
    }

    /// Unlocks the directory if all work has ended, and returns whether it did.
    private func giveUp() -> Bool {
        var ownership = shared.withLock { $0.takeOwnership() }
        guard ownership != nil else { return false }
        ownership = nil
        return true
    }
}

extension ClockReading {
    /// The date in the format of report names.
    var wall: Int64 { RecordName.milliseconds(date) }
}

extension OutboxEngine.Shared {
    /// Converts a clock reading to the outbox's time.
    mutating func time(_ now: ClockReading) -> TimerInstant { clock.read(now) }

    /// Removes the lock of the directory, if all work has ended.
    fileprivate mutating func takeOwnership() -> (any Sendable)? {
        guard outbox.isClosed, outbox.inFlight == 0, pendingWork == 0, visitors == 0 else { return nil }
        return replace(&ownership, with: nil)
    }

    /// Removes the calls that wait for the directory, if it is unlocked.
    fileprivate mutating func takeClosers() -> [CheckedContinuation<Void, Never>] {
        isFree ? replace(&closers, with: []) : []
    }

    /// Removes a report, and returns the submissions that waited for it.
    mutating func remove(_ handle: OutboxHandle) -> [DispatchSemaphore] {
        guard let entry = outbox.remove(handle) else { return [] }
        return waiters.removeValue(forKey: entry.name.id) ?? []
    }
}

struct RunningAttempt: Sendable {
    let task: HTTPTask
    let timeout = Alarm()
}

/// The time since the outbox was opened, by the monotonic clock and with the time for which the machine slept, so that it is
/// independent of changes to the wall clock.
struct OutboxClock: Sendable {
    private(set) var time = TimerInstant(nanoseconds: 0)
    private var meter: SleepMeter

    init(_ reading: ClockReading) { meter = SleepMeter(reading) }

    /// Updates the time, and returns it.
    mutating func read(_ reading: ClockReading) -> TimerInstant {
        let (passed, slept) = meter.read(reading)
        time = time.advanced(by: passed + slept)
        return time
    }
}
