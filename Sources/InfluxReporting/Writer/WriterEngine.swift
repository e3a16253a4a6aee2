import Dispatch
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Runs a writer: carries out what its state decides.
///
/// Nothing of a user's runs under the lock, and it is not held while something is read, written or sent. What the state decides
/// is carried out by the calling thread after unlocking; what takes long goes to a queue or to a task.
final class WriterEngine: Sendable {
    let state: Locked<WriterState>
    /// Where blocks are kept; nil if they are in memory alone.
    let store: JournalStore?
    let sender: any LineSender
    let listeners: Listeners<WriterEvent>
    /// How often room was made, for writes that wait for it.
    let room = Awaited(0)
    let timers: any Timers
    let random: RandomSource
    let precision: Precision
    let synchronization: Duration
    let alarm = Alarm()
    /// What touches the disk and may take its time.
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

    // MARK: Doing what is decided

    /// Ends flushes whose points are settled, sends what is to be sent, and sets the alarm for what comes next.
    func advance() {
        var isSending = true
        while isSending {
            let now = timers.now
            let step = state.withLock { state in
                let done = state.batching.takeDone()
                let next = state.nextBatch(at: now)
                // Its task is there before anybody could look for it, and begins on another thread.
                if let (parcels, number) = next { state.sendings[number] = sending(parcels, as: number) }
                return (isSending: next != nil, done: done, closing: state.batching.takeClosing())
            }
            for (waiter, report) in step.done { waiter.end(with: report) }
            isSending = step.isSending
        }
        setAlarm()
    }

    /// Notes that there is room that was not there before.
    func openRoom() { room.change { $0 += 1 } }

    // MARK: Time

    private func setAlarm() {
        alarm.set(on: timers, for: { state.withLock(\.alarmTime) }) { [weak self] in self?.timePassed() }
    }

    private func timePassed() {
        let now = timers.now
        state.withLock { $0.batching.pass(to: now) }
        advance()
    }

    // MARK: The end

    /// Ends everything at once; what is in memory is gone, and what is on the disk stays.
    func stop() {
        let (sendings, _) = state.withLock { state in
            state.isShutDown = true
            state.isStopped = true
            return (Array(state.sendings.values), state.batching.takeClosing())
        }
        alarm.end()
        for sending in sendings { sending.cancel() }
        store?.close()
        openRoom()
        listeners.end()
    }

    /// The statistics of the writer.
    var statistics: WriterStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.held = state.batching.heldPoints
            statistics.heldBytes = state.batching.heldRoom
            statistics.repairs = state.encoders.repairs
            return statistics
        }
    }
}
