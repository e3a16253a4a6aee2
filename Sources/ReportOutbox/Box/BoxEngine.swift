import Dispatch
import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Runs a box: the state behind its lock, the files, and a queue on which everything happens but submissions.
///
/// The state decides under the lock. What it decided is done after unlocking: on the disk, by the chain, or by the app. One
/// thread at a time handles a report, as its phase says. No code of the app runs under the lock.
final class BoxEngine: Sendable {
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
        var box: BoxState
        var clock: BoxClock
        /// The lock of the directory, held as long as anything of this box is under way.
        var ownership: (any Sendable)?
        /// Whether the directory was given up.
        var isFree = false
        var counters = OutboxCounters()
        /// What servers have not been told yet.
        var discards = DiscardLedger()
        /// The submissions that wait until a report of an identifier has come in or has left.
        var waiters: [ReportID: [DispatchSemaphore]] = [:]
        var running: [UInt64: RunningAttempt] = [:]
        /// The reports that were set aside.
        var aside = Quarantine()
        /// Files of quarantined reports that are back in the box.
        var asideLeftovers: [AsideName] = []
        /// Files of reports that are done with, and that could not be removed.
        var remains: [StoredFile] = []
        var isPumpScheduled = false
        /// Blocks on the queue that have not ended.
        var pendingWork = 0
        /// Calls from outside that have not returned.
        var visitors = 0
        /// The calls that wait until the box has nothing under way.
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
        let clock = BoxClock(ClockReading(settings.timers))
        shared = Locked(Shared(box: BoxState(settings), clock: clock, ownership: ownership))
    }

    // MARK: Time

    /// Read outside the lock, since the timers are the app's.
    var now: ClockReading { ClockReading(settings.timers) }

    // MARK: The queue

    func enqueue(_ work: @escaping @Sendable () -> Void) {
        shared.withLock { $0.pendingWork += 1 }
        perform(work)
    }

    /// Puts work on the queue that is counted already.
    private func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            work()
            shared.withLock { $0.pendingWork -= 1 }
            endIfDone()
        }
    }

    /// Begins work on the files from outside the queue; false once the box is closed.
    func enter() -> Bool {
        shared.withLock { shared in
            if !shared.box.isClosed { shared.visitors += 1 }
            return !shared.box.isClosed
        }
    }

    func exit() {
        shared.withLock { $0.visitors -= 1 }
        endIfDone()
    }

    /// Schedules sending what is due.
    func schedulePump() {
        let isNew = shared.withLock { shared in
            defer { shared.isPumpScheduled = true }
            return !shared.isPumpScheduled
        }
        if isNew { enqueue { [self] in pump() } }
    }

    /// Waits until the queue has nothing left to do; attempts may still be under way.
    func drain() {
        while shared.withLock({ $0.pendingWork > 0 }) { queue.sync {} }
        // The last work counts as done before it has given the directory up.
        queue.sync {}
    }

    // MARK: Events

    func emit(_ event: ReportEvent) {
        shared.withLock { $0.counters.count(event) }
        listeners.tell(event)
    }

    func trouble(_ failure: FileFailure) { emit(.trouble("\(failure)")) }

    // MARK: The end

    /// Stops sending, and cancels what is being sent.
    func stop() {
        let (saves, running) = shared.withLock { shared in
            let saves = !replace(&shared.box.isClosed, with: true) && shared.discards.isDirty
            // Counted at once: later, the directory may be another box's.
            if saves { shared.pendingWork += 1 }
            return (saves, shared.running)
        }
        alarm.end()
        for attempt in running.values { attempt.task.cancel() }
        if saves { perform { [self] in saveDiscards() } }
        listeners.end()
        endIfDone()
    }

    /// Returns when nothing is under way any more.
    func waitUntilStopped() async {
        await withCheckedContinuation { continuation in
            shared.withLock { $0.closers.append(continuation) }
            endIfDone()
        }
    }

    /// Gives the directory up once the box is closed and nothing is under way, and resumes those who wait for that.
    private func endIfDone() {
        if giveUp() { shared.withLock { $0.isFree = true } }
        // Not before it is free: another thread may be about to release it.
        for closer in shared.withLock({ $0.takeClosers() }) { closer.resume() }
    }

    /// Releases the directory, if it is time, and says whether it did.
    private func giveUp() -> Bool {
        var ownership = shared.withLock { $0.takeOwnership() }
        guard ownership != nil else { return false }
        ownership = nil
        return true
    }
}

extension ClockReading {
    /// The date as reports bear it.
    var wall: Int64 { RecordName.milliseconds(date) }
}

extension BoxEngine.Shared {
    /// The box's time at a moment.
    mutating func time(_ now: ClockReading) -> TimerInstant { clock.read(now) }

    /// Takes out what holds the directory, once nothing is under way.
    fileprivate mutating func takeOwnership() -> (any Sendable)? {
        guard box.isClosed, box.inFlight == 0, pendingWork == 0, visitors == 0 else { return nil }
        return replace(&ownership, with: nil)
    }

    /// Takes out the calls that wait until the directory is free, if it is.
    fileprivate mutating func takeClosers() -> [CheckedContinuation<Void, Never>] {
        isFree ? replace(&closers, with: []) : []
    }

    /// Removes a report, and returns the submissions that waited for it.
    mutating func remove(_ handle: BoxHandle) -> [DispatchSemaphore] {
        guard let entry = box.remove(handle) else { return [] }
        return waiters.removeValue(forKey: entry.name.id) ?? []
    }
}

struct RunningAttempt: Sendable {
    let task: HTTPTask
    let timeout = Alarm()
}

/// Time as a box counts it: the time since it was opened, which no setting of the wall clock moves.
///
/// It follows the monotonic clock, and counts the sleep of the machine as well.
struct BoxClock: Sendable {
    private(set) var time = TimerInstant(nanoseconds: 0)
    private var meter: SleepMeter

    init(_ reading: ClockReading) { meter = SleepMeter(reading) }

    /// Moves the time to the present, and returns it.
    mutating func read(_ reading: ClockReading) -> TimerInstant {
        let (passed, slept) = meter.read(reading)
        time = time.advanced(by: passed + slept)
        return time
    }
}
