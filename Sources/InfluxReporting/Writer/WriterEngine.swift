import Dispatch
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Runs a writer: the stripes that take points in, the state that decides, and the effects.
///
/// Nothing of a user's runs under a lock, and no lock is held while something is read, written or sent. What the state decides
/// is carried out by the calling thread after unlocking; what takes long goes to a queue or to a task.
final class WriterEngine: Sendable {
    let limits: BatchingLimits
    let stripes: [Locked<Stripe>]
    let shared: Locked<WriterShared>
    let store: any BlockStore
    let sender: any LineSender
    let listeners: Listeners<WriterEvent>
    /// Where writes wait that may wait.
    let room = RoomGate()
    let timers: any Timers
    let random: RandomSource
    let precision: Precision
    let isDurable: Bool
    let synchronization: Duration
    let alarm = Alarm()
    /// What touches the disk and may take its time.
    let queue = DispatchQueue(label: "InfluxWriter")

    init(
        _ limits: BatchingLimits, settings: WriterSettings, dialect: LineDialect, store: any BlockStore,
        sender: any LineSender, onEvent: (@Sendable (WriterEvent) -> Void)?
    ) {
        self.limits = limits
        self.store = store
        self.sender = sender
        listeners = Listeners(onEvent)
        timers = settings.timers
        random = settings.random
        precision = settings.precision
        isDurable = store.isDurable
        synchronization = settings.synchronization
        let template = LineEncoder(
            precision: settings.precision, defaults: settings.tags, dialect: dialect, capacity: 64)
        stripes = (0..<limits.stripes).map { _ in Locked(Stripe(template)) }
        shared = Locked(WriterShared(limits, settings: settings, isDurable: store.isDurable))
    }

    // MARK: Doing what is decided

    /// Does what there is to do, and sets the alarm for what comes next.
    func advance() {
        while true {
            let now = timers.now
            let step = shared.withLock { shared in
                let step = shared.isStopped || shared.isEnding ? nil : shared.batching.nextStep(at: now)
                // Its task is there before anybody could look for it, and begins on another thread.
                if case .send(let parcels) = step, let number = parcels.last?.number {
                    shared.sendings[number] = sending(parcels, as: number)
                }
                return step
            }
            switch step {
            case nil: return setAlarm()
            case .gather:
                gather()
                shared.withLock { $0.batching.gathered() }
            case .send: continue
            }
        }
    }

    /// Hands in all that is being filled.
    func gather() {
        var hasMadeRoom = false
        for stripe in stripes {
            stripe.withLock { stripe in
                stripe.isQuiet = true
                if let block = stripe.block, !block.isEmpty {
                    handIn(block)
                    stripe.block = nil
                    hasMadeRoom = true
                }
            }
        }
        // A block that is being filled counts as full.
        if hasMadeRoom { room.open() }
    }

    /// Takes a block from its stripe, whose lock is held, so that it is nowhere out of sight.
    func handIn(_ block: LineBlock) {
        shared.withLock { $0.handIn(block) }
    }

    // MARK: Time

    private func setAlarm() {
        alarm.set(on: timers, for: { shared.withLock(\.alarmTime) }) { [weak self] in self?.timePassed() }
    }

    private func timePassed() {
        let newest = newest
        let now = timers.now
        shared.withLock { $0.batching.pass(to: now, newest: newest) }
        advance()
    }

    /// When the last point came.
    private var newest: TimerInstant? {
        stripes.map { $0.withLock { $0.newest } }.max()
    }

    // MARK: The end

    /// Ends everything at once; what is in memory is gone, and what is on the disk stays.
    func stop() {
        let sendings = shared.withLock { shared in
            shared.isShutDown = true
            shared.isStopped = true
            return Array(shared.sendings.values)
        }
        alarm.end()
        for sending in sendings { sending.cancel() }
        removeUnused()
        store.close()
        room.open()
        listeners.end()
    }

    /// Removes the files of blocks that were never filled.
    private func removeUnused() {
        var unused = shared.withLock { $0.takeSpares() }
        for stripe in stripes {
            stripe.withLock { stripe in
                guard let block = stripe.block, block.isEmpty else { return }
                unused.append(block)
                stripe.block = nil
            }
        }
        remove(unused.compactMap(\.file))
    }
}

/// The statistics of a writer.
extension WriterEngine {
    var statistics: WriterStatistics {
        var statistics = shared.withLock { shared in
            var statistics = shared.statistics
            statistics.held =
                shared.batching.queue.points + shared.batching.inFlight.values.reduce(0) { $0 + $1.points }
            statistics.heldBytes = shared.batching.heldRoom
            return statistics
        }
        // Stripes one by one: a point may move from one to the state meanwhile, and be counted twice or not at all.
        for stripe in stripes {
            stripe.withLock { stripe in
                statistics.accepted += stripe.accepted
                statistics.held += stripe.block?.points ?? 0
                statistics.repairs += stripe.allRepairs
            }
        }
        return statistics
    }
}
