import Dispatch
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Runs a writer: carries out the decisions of its state.
///
/// No user code runs under the lock, and the lock is not held during reads, writes or requests. The calling thread carries out the
/// decisions after unlocking; long work goes to a queue or to a task.
final class WriterEngine: Sendable {
    let state: Locked<WriterState>
    /// The store of the blocks; nil if they are only in memory.
    let store: JournalStore?
    let sender: any LineSender
    let listeners: Listeners<WriterEvent>
    /// How often space was freed, for ``enqueue(_:)``.
    let freedSpace = Awaited(0)
    let timers: any Timers
    let random: RandomSource
    let precision: Precision
    let synchronization: Duration
    let alarm = Alarm()
    /// The queue for disk work that may take long.
    let queue = DispatchQueue(label: "InfluxWriter")

    init(
        _ settings: WriterSettings, dialect: LineDialect, store: JournalStore?, sender: any LineSender,
        onEvent: (@Sendable (WriterEvent) -> Void)?
    ) {
        self.store = store
        self.sender = sender
        listeners = Listeners(onEvent)
        timers = settings.timers
        random = settings.random
        precision = settings.precision
        synchronization = settings.synchronization
        state = Locked(
            WriterState(
                BatchingLimits(settings, isDurable: store != nil), encoders: Encoders(settings, dialect), store: store))
    }

    // MARK: Carrying out decisions

    /// Ends flushes whose points are settled, sends the batches that are due, and sets the alarm for the next step.
    func advance() {
        var isSending = true
        while isSending {
            let now = look()
            let step = state.withLock { state in
                let done = state.batching.takeDone()
                let next = state.nextBatch(at: now)
                // Stored under the lock, because the task starts on another thread and removes itself at its end.
                if let (parcels, number) = next { state.sendings[number] = sending(parcels, as: number) }
                return (isSending: next != nil, done: done, closing: state.batching.takeClosing())
            }
            for (waiter, report) in step.done { waiter.end(with: report) }
            isSending = step.isSending
        }
        setAlarm()
    }

    func noteFreedSpace() { freedSpace.change { $0 += 1 } }

    func emit(_ event: WriterEvent) { listeners.tell(event) }

    // MARK: Time

    private func setAlarm() {
        alarm.set(on: timers, for: { state.withLock(\.alarmTime) }) { [weak self] in self?.timePassed() }
    }

    /// Returns the present, after a pause was shortened by how long the machine has slept, while the clock of the timers stood still.
    func look() -> TimerInstant {
        let reading = ClockReading(timers)
        state.withLock { $0.batching.countSleep(until: reading) }
        return reading.instant
    }

    private func timePassed() {
        let now = look()
        state.withLock { $0.batching.pass(to: now) }
        advance()
    }

    // MARK: The end

    /// Ends everything at once; points in memory are lost, and points in files stay.
    func stop() {
        let (sendings, _) = state.withLock { state in
            state.enter(.stopped)
            return (Array(state.sendings.values), state.batching.takeClosing())
        }
        alarm.end()
        for sending in sendings { sending.cancel() }
        store?.close()
        noteFreedSpace()
        listeners.end()
    }

    var statistics: WriterStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.held = state.batching.heldPoints
            statistics.heldBytes = state.batching.heldFootprint
            statistics.repairs = state.encoders.repairs
            return statistics
        }
    }
}
