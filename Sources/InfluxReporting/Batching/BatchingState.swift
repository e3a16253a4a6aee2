import LoaderChain

// Batching: collects points in blocks, and decides when they leave. It may use Sending, Points and Blocks.

/// Decides which points are held and which leave when, without threads, clocks or disks.
///
/// Points come in blocks. To fill one, a stripe asks for a **grant**, which counts as held from then on; so the bounds
/// hold whatever the block contains so far. A full block is handed in as a parcel. The blocks that are being filled are
/// elsewhere; when their points are to leave, too, the state asks for them to be **gathered**.
///
/// What makes points leave:
/// - **enough**: the parcels fill a batch;
/// - **quiet**: no point has come for so long;
/// - **age**: the oldest point has waited so long;
/// - **flush**: the app asked.
///
/// All but the first *release* what has come so far, up to a number. A batch is taken when something is released or enough,
/// no pause is in force, and not too many batches are on their way.
struct BatchingState<Content: Sendable, Waiter> {
    typealias Item = Parcel<Content>

    let limits: BatchingLimits
    private(set) var pacing: SendPacing
    private(set) var queue = ParcelQueue<Content>()
    /// The batches on their way, by the number of their last parcel.
    private(set) var inFlight: [UInt64: (points: Int, room: Int)] = [:]
    /// What has been granted and not been handed in.
    private(set) var granted = (points: 0, room: 0)
    private var ledger = FlushLedger<Waiter>()

    private var lastNumber: UInt64 = 0
    /// Everything up to this number is to leave.
    private var releasedThrough: UInt64 = 0
    /// Whether the blocks that are being filled are to be gathered, because what they hold is to leave.
    private var wantsGathering = false
    /// When the oldest point that waits for its release was written; nil if none waits.
    private var waitingSince: TimerInstant?
    /// The latest that is known of when a point came.
    private var newest = TimerInstant(nanoseconds: .min)

    init(_ limits: BatchingLimits) {
        self.limits = limits
        pacing = SendPacing(limits.pacing)
    }

    // MARK: Holding

    var heldPoints: Int { granted.points + queue.points + inFlight.values.reduce(0) { $0 + $1.points } }
    var heldRoom: Int { granted.room + queue.room + inFlight.values.reduce(0) { $0 + $1.room } }

    /// What came of a request for a grant.
    enum Grant {
        /// It was given, for which these had to go.
        case given(dropped: [Item])
        /// There is no room, and none can be made.
        case refused
    }

    /// Grants room for a block that is going to be filled; others give way only if `mayDrop`, and the settings say so.
    mutating func grant(points: Int, room: Int, mayDrop: Bool = true) -> Grant {
        var excess = (
            points: heldPoints + points - limits.maximumPoints, room: heldRoom + room - limits.maximumRoom
        )
        var dropped: [Item] = []
        if excess.points > 0 || excess.room > 0 {
            guard mayDrop, limits.whenFull == .dropOldest, excess.points <= queue.points, excess.room <= queue.room
            else {
                return .refused
            }
            while excess.points > 0 || excess.room > 0, let oldest = queue.popFirst() {
                excess.points -= oldest.points
                excess.room -= oldest.room
                dropped.append(oldest)
                ledger.credit(oldest.number) { $0.note(oldest.points, .noRoom) }
            }
        }
        granted.points += points
        granted.room += room
        return .given(dropped: dropped)
    }

    /// Takes back a grant that was not used.
    mutating func takeBack(points: Int, room: Int) {
        granted.points -= points
        granted.room -= room
    }

    /// Takes a parcel in, the newest of all.
    ///
    /// - Returns: its number.
    @discardableResult
    mutating func handIn(_ parcel: Item) -> UInt64 {
        var parcel = parcel
        lastNumber += 1
        parcel.number = lastNumber
        queue.insert(parcel)
        return lastNumber
    }

    /// Changes a parcel, as to keep its lines in another form, unless it has left.
    mutating func change(_ number: UInt64, _ change: (inout Item) -> Void) { queue.change(number, change) }

    /// Takes in a parcel of an earlier launch, and releases it at once.
    mutating func recover(_ parcel: Item) {
        handIn(parcel)
        releasedThrough = lastNumber
    }

    // MARK: Leaving

    /// Notes that a point has come while none waited.
    mutating func firstCame(at now: TimerInstant) {
        if waitingSince == nil { waitingSince = now }
        newest = max(newest, now)
    }

    /// When to look again whether something is due; nil if there is nothing to wait for.
    var nextAlarm: TimerInstant? {
        if let pause = pacing.pausedUntil { return pause }
        guard let waitingSince, !wantsGathering else { return nil }
        return releaseTime(since: waitingSince)
    }

    private func releaseTime(since oldest: TimerInstant) -> TimerInstant {
        min(oldest.advanced(by: limits.maximumAge), max(newest, oldest).advanced(by: limits.quiet))
    }

    /// Notes that time has passed, and that the last point, if any, came at `newest`.
    mutating func pass(to now: TimerInstant, newest: TimerInstant?) {
        if let newest { self.newest = max(self.newest, newest) }
        pacing.pass(to: now)
        if let waitingSince, releaseTime(since: waitingSince) <= now { release() }
    }

    private mutating func release() {
        waitingSince = nil
        wantsGathering = true
    }

    /// The next thing to do.
    enum Step {
        /// Hand in all blocks that are being filled, then call ``gathered()``.
        case gather
        /// Send these as one batch, then call one of the `ended` methods with the number of the last.
        case send([Item])
    }

    /// The next thing to do; nil if there is nothing to do before something happens.
    mutating func nextStep(at now: TimerInstant) -> Step? {
        // After a failure, one batch tries the ground for all.
        let limit = pacing.failures > 0 ? 1 : limits.maximumInFlight
        guard !pacing.isPaused(at: now), inFlight.count < limit else { return nil }
        if wantsGathering {
            beginGathering()
            return .gather
        }
        guard let first = queue.first, first.number <= releasedThrough || first.wasTried || isEnough else { return nil }
        return .send(takeBatch())
    }

    /// The blocks that are being filled are about to be handed in; what comes from now on waits for a release of its own.
    mutating func beginGathering() {
        wantsGathering = false
        waitingSince = nil
    }

    /// All that came before ``beginGathering()`` has been handed in.
    mutating func gathered() { releasedThrough = lastNumber }

    /// Whether the parcels fill a batch, or leave no room in it for another block.
    private var isEnough: Bool {
        queue.points > limits.batchPoints - limits.blockPoints
            || queue.bytes > limits.batchBytes - limits.blockRoom
    }

    private mutating func takeBatch() -> [Item] {
        var batch: [Item] = []
        var (points, bytes) = (0, 0)
        while let next = queue.first {
            if let first = batch.first {
                guard !first.wasTried, !next.wasTried, next.precision == first.precision,
                    points + next.points <= limits.batchPoints, bytes + next.bytes <= limits.batchBytes
                else { break }
                if let border = ledger.border(from: first.number), next.number > border { break }
            }
            guard let parcel = queue.popFirst() else { break }
            batch.append(parcel)
            points += parcel.points
            bytes += parcel.bytes
        }
        if let last = batch.last {
            inFlight[last.number] = (points, batch.reduce(0) { $0 + $1.room })
        }
        return batch
    }

    /// A batch has come to its end.
    ///
    /// - Parameters:
    ///   - number: that of its last parcel.
    ///   - rest: what is left to be tried again; nil if all is settled.
    ///   - note: what became of the others.
    mutating func ended(_ number: UInt64, rest: Item?, note: (inout FlushReport) -> Void) {
        inFlight[number] = nil
        ledger.credit(number, note)
        guard var rest else { return pacing.succeeded() }
        rest.number = number
        rest.wasTried = true
        queue.insert(rest)
    }

    /// A batch had to be kept: waits before the next.
    mutating func wait(from now: TimerInstant, told: Duration?, roll: Double) {
        pacing.failed(at: now, told: told, roll: roll)
    }

    // MARK: Flushing

    /// Releases all points that have come, for a waiter; the blocks that were being filled have been handed in.
    mutating func flush(_ waiter: Waiter, id: Int) {
        gathered()
        pacing.hurry()
        ledger.add(waiter, id: id, target: lastNumber)
    }

    /// Takes out the waiters whose points are all settled.
    mutating func takeDone() -> [(Waiter, FlushReport)] {
        ledger.takeDone(oldestOutstanding: oldestOutstanding)
    }

    /// Takes out the waiters for a batch that is kept and that needs a change before it can succeed.
    mutating func giveUp(on number: UInt64, because cause: FlushReport.KeepCause) -> [(Waiter, FlushReport)] {
        let outstanding = outstandingPoints
        return ledger.takeAll(waitingFor: number, outstanding: outstanding, because: cause)
    }

    /// Takes out a waiter that waits no longer.
    mutating func giveUp(_ id: Int, because cause: FlushReport.KeepCause) -> (Waiter, FlushReport)? {
        let outstanding = outstandingPoints
        return ledger.take(id, outstanding: outstanding, because: cause)
    }

    private var oldestOutstanding: UInt64? {
        let tried = inFlight.keys.min()
        guard let waits = queue.first?.number else { return tried }
        return min(waits, tried ?? .max)
    }

    /// How many points up to a number are not settled.
    private var outstandingPoints: (UInt64) -> Int {
        let (queue, inFlight) = (queue, inFlight)
        return { number in
            queue.all.prefix { $0.number <= number }.reduce(0) { $0 + $1.points }
                + inFlight.filter { $0.key <= number }.reduce(0) { $0 + $1.value.points }
        }
    }

    /// Gives up some points of each parcel that waits, at the end, and takes out all who wait for others.
    ///
    /// - Parameter unsent: how many points of a parcel are given up.
    mutating func end(giving unsent: (Item) -> Int) -> [(Waiter, FlushReport)] {
        var all: [Item] = []
        while let parcel = queue.popFirst() { all.append(parcel) }
        for var parcel in all {
            let count = unsent(parcel)
            ledger.credit(parcel.number) { $0.note(count, .unsent) }
            parcel.points -= count
            if parcel.points > 0 { queue.insert(parcel) }
        }
        return giveUp(on: 0, because: .deadline)
    }
}
