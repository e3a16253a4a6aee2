import LoaderChain

// Batching: collects points in blocks, and decides when they leave. It may use Sending, Points and Blocks.

/// Decides which points are held and which leave when, without threads, clocks or disks.
///
/// Points are collected in one parcel, which is **sealed** when it is full, or when its points are to leave, and then waits in a
/// queue. Everything that is held counts, so the bounds hold after every point.
///
/// What makes points leave:
/// - **enough**: what waits fills a batch;
/// - **quiet**: no point has come for so long;
/// - **age**: the oldest point has waited so long;
/// - **flush**: the app asked.
///
/// All but the first *release* what has come so far, up to a number. A batch is taken when something is released or enough,
/// no pause is in force, and not too many batches are on their way.
struct BatchingState<Waiter> {
    let limits: BatchingLimits
    private(set) var pacing: SendPacing
    private(set) var queue = ParcelQueue()
    /// The parcel whose points are being collected.
    ///
    /// It has the newest number, and no points if none came since the last was sealed.
    private(set) var open: Parcel
    /// The lines of that parcel, in memory that all parcels use in turn.
    private var lines = LineBlock()
    /// The files of parcels that were sealed, which the owner closes under no lock.
    private var closing: [BlockJournal] = []
    /// The batches on their way, by the number of their last parcel, and what all of them come to.
    private(set) var inFlight: [UInt64: (points: Int, room: Int)] = [:]
    private var flying = (points: 0, room: 0)
    private var ledger = FlushLedger<Waiter>()

    /// Everything up to this number is to leave.
    private var releasedThrough: UInt64 = 0
    /// Whether everything that has come is to be released, once a batch may leave; so a pause leaves no small parcels.
    private var isDue = false
    /// When the oldest point that waits for its release was written; nil if none waits.
    private var waitingSince: TimerInstant?
    /// When the newest point was written.
    private var newest = TimerInstant(nanoseconds: .min)
    /// When to look whether that is to be released.
    ///
    /// It does not move with each point, so the alarm is not set anew for each.
    private var lookTime = TimerInstant(nanoseconds: .min)

    init(_ limits: BatchingLimits) {
        self.limits = limits
        pacing = SendPacing(limits.pacing)
        open = Parcel(number: 1, precision: limits.precision)
    }

    // MARK: Holding

    var heldPoints: Int { open.points + queue.total.points + flying.points }
    var heldRoom: Int { open.room + queue.total.room + flying.room }

    /// By how much the bounds would be exceeded with a line more.
    private func excess(with length: Int) -> (points: Int, room: Int) {
        let room = limits.room(of: lines.count + LineFrame.length(of: length))
        return (heldPoints + 1 - limits.maximumPoints, heldRoom - open.room + room - limits.maximumRoom)
    }

    /// Whether a line fits into the open parcel.
    func fits(_ length: Int) -> Bool {
        open.points == 0
            || open.points < limits.blockPoints && lines.count + LineFrame.length(of: length) <= limits.blockBytes
    }

    /// Whether a line can be added as things are; one that is longer than a block is looked at more closely.
    func takes(_ length: Int) -> Bool {
        let excess = excess(with: length)
        return LineFrame.length(of: length) <= limits.blockBytes && fits(length) && excess.points <= 0
            && excess.room <= 0
    }

    /// Makes room for a line; others give way only if `mayDrop`, and the settings say so.
    ///
    /// - Returns: those that had to go; nil if there is no room, and none can be made.
    mutating func makeRoom(for length: Int, mayDrop: Bool = true) -> [Parcel]? {
        if !fits(length) { seal() }
        var excess = excess(with: length)
        if excess.points <= 0, excess.room <= 0 { return [] }
        guard mayDrop, limits.whenFull == .dropOldest else { return nil }
        if excess.points > queue.total.points || excess.room > queue.total.room {
            // All others are on their way.
            seal()
            excess = self.excess(with: length)
        }
        guard excess.points <= queue.total.points, excess.room <= queue.total.room else { return nil }
        var dropped: [Parcel] = []
        while excess.points > 0 || excess.room > 0, let oldest = queue.popFirst() {
            excess.points -= oldest.points
            excess.room -= oldest.room
            ledger.credit(oldest.number) { $0.note(oldest.points, .noRoom) }
            dropped.append(oldest)
        }
        return dropped
    }

    /// Adds a line, for which there is room.
    ///
    /// - Returns: whether there may be something to do now, or a time to do it.
    @inline(__always)
    mutating func add(_ line: UnsafeRawBufferPointer, at now: TimerInstant) -> Bool {
        lines.append(line)
        open.points += 1
        open.bytes += line.count
        open.room = limits.room(of: lines.count)
        if now > newest { newest = now }
        if waitingSince == nil, !isDue {
            waitingSince = now
            lookTime = releaseTime(since: now)
            return true
        }
        return isEnough && canSend(at: now)
    }

    /// Lets the parcel that is being collected wait with the others.
    mutating func seal() {
        guard open.points > 0 else { return }
        open.block = lines.takeAll(keeping: 2 * limits.blockBytes)
        if let journal = replace(&open.journal, with: nil) { closing.append(journal) }
        queue.insert(open)
        leaveToFile(open.number)
        open = Parcel(number: open.number + 1, precision: limits.precision)
    }

    /// Takes out the files that are to be closed.
    mutating func takeClosing() -> [BlockJournal] { replace(&closing, with: []) }

    /// Takes in a parcel of an earlier launch, and releases it at once.
    mutating func recover(_ parcel: Parcel) {
        var parcel = parcel
        parcel.number = open.number
        queue.insert(parcel)
        releasedThrough = parcel.number
        open.number += 1
    }

    // MARK: Leaving

    /// When to look again whether something is due; nil if there is nothing to wait for.
    var nextAlarm: TimerInstant? {
        if let pause = pacing.pausedUntil { return pause }
        return waitingSince == nil ? nil : lookTime
    }

    private func releaseTime(since oldest: TimerInstant) -> TimerInstant {
        min(oldest.advanced(by: limits.maximumAge), max(newest, oldest).advanced(by: limits.quiet))
    }

    /// Notes that time has passed.
    mutating func pass(to now: TimerInstant) {
        pacing.pass(to: now)
        guard let oldest = waitingSince else { return }
        lookTime = releaseTime(since: oldest)
        guard lookTime <= now else { return }
        waitingSince = nil
        isDue = true
    }

    /// Releases all points that have come.
    mutating func release() {
        seal()
        releasedThrough = open.number - 1
        isDue = false
        waitingSince = nil
    }

    /// The next batch to send; nil if there is none before something happens.
    ///
    /// Its end is told to ``ended(_:rest:note:)``.
    mutating func nextBatch(at now: TimerInstant) -> [Parcel]? {
        // A first parcel that is on its way to its file leaves when it is there.
        guard canSend(at: now), queue.first?.writing ?? 0 == 0 else { return nil }
        if isDue { release() } else if isEnough { seal() }
        guard let first = queue.first, first.number <= releasedThrough || first.wasTried || isEnough else { return nil }
        return takeBatch()
    }

    private func canSend(at now: TimerInstant) -> Bool {
        // After a failure, one batch tries the ground for all.
        inFlight.count < (pacing.failures > 0 ? 1 : limits.maximumInFlight) && !pacing.isPaused(at: now)
    }

    /// Whether what waits fills a batch, or leaves no room in it for another block.
    private var isEnough: Bool {
        queue.total.points + open.points >= limits.batchPoints
            || queue.total.bytes + open.bytes > limits.batchBytes - limits.blockBytes
    }

    private mutating func takeBatch() -> [Parcel]? {
        var batch: [Parcel] = []
        var (points, bytes, room) = (0, 0, 0)
        while let next = queue.first, next.writing == 0 {
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
            room += parcel.room
        }
        guard let last = batch.last else { return nil }
        if queue.first == nil, open.points == 0 { waitingSince = nil }
        inFlight[last.number] = (points, room)
        flying = (flying.points + points, flying.room + room)
        return batch
    }

    /// A batch has come to its end.
    ///
    /// - Parameters:
    ///   - number: that of its last parcel.
    ///   - rest: what is left to be tried again; nil if all is settled.
    ///   - note: what became of the others.
    mutating func ended(_ number: UInt64, rest: Parcel?, note: (inout FlushReport) -> Void) {
        if let batch = inFlight.removeValue(forKey: number) {
            flying = (flying.points - batch.points, flying.room - batch.room)
        }
        ledger.credit(number, note)
        guard var rest else { return pacing.succeeded() }
        rest.number = number
        rest.wasTried = true
        // Its files have all the lines of the batch.
        if rest.files.isEmpty { rest.room = limits.room(of: rest.block?.count ?? 0) }
        queue.insert(rest)
    }

    /// A batch had to be kept: waits before the next.
    mutating func wait(from now: TimerInstant, told: Duration?, roll: Double) {
        pacing.failed(at: now, told: told, roll: roll)
    }

    // MARK: Flushing

    /// Releases all points that have come, for a waiter.
    mutating func flush(_ waiter: Waiter, id: Int) {
        release()
        pacing.hurry()
        ledger.add(waiter, id: id, target: releasedThrough)
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

    /// Gives up the points that are in no file, at the end, and takes out all who wait for others.
    ///
    /// - Parameter lose: hears how many points are given up of each parcel that waits.
    mutating func end(_ lose: (Int) -> Void) -> [(Waiter, FlushReport)] {
        seal()
        var all: [Parcel] = []
        while let parcel = queue.popFirst() { all.append(parcel) }
        for var parcel in all {
            let count = parcel.files.isEmpty ? parcel.points : min(parcel.unsaved.count, parcel.points)
            lose(count)
            ledger.credit(parcel.number) { $0.note(count, .unsent) }
            parcel.points -= count
            if parcel.points > 0 { queue.insert(parcel) }
        }
        return giveUp(on: 0, because: .deadline)
    }
}

// MARK: - What is on the disk, of a writer with a directory

extension BatchingState {
    /// Gives the open parcel a file, before its first line.
    mutating func begin(_ journal: BlockJournal) {
        open.journal = journal
        open.files = [journal.file]
    }

    /// Adds a line that is to be written to the open parcel's file.
    ///
    /// - Returns: the line, and whether there may be something to do once it is written.
    mutating func add(
        _ line: UnsafeRawBufferPointer, at now: TimerInstant, writing journal: BlockJournal
    ) -> (line: LineOnItsWay, isNotable: Bool) {
        let place = LineOnItsWay(journal: journal, parcel: open.number, line: open.points, offset: lines.count)
        open.writing += 1
        return (place, add(line, at: now))
    }

    /// Notes that a line has arrived in its file, or never will.
    ///
    /// - Returns: whether its parcel is still there, and was not dropped for newer points.
    mutating func wrote(_ line: LineOnItsWay, failed: Bool) -> Bool {
        if line.parcel == open.number {
            open.wrote(line.line, failed: failed)
            return true
        }
        let isThere = queue.change(line.parcel) { $0.wrote(line.line, failed: failed) }
        leaveToFile(line.parcel)
        return isThere
    }

    /// Leaves a parcel to its file, if too much is in memory.
    private mutating func leaveToFile(_ number: UInt64) {
        guard limits.isDurable, queue.total.memory > limits.maximumMemory else { return }
        queue.change(number) { if $0.isSaved { $0.block = nil } }
    }

    /// Makes room in memory for a line that may be there alone, by leaving others to their files.
    ///
    /// - Returns: whether there is room.
    mutating func makeMemory(for length: Int) -> Bool {
        let most = limits.maximumMemory - lines.count - LineFrame.length(of: length) - BatchingLimits.overhead
        guard queue.total.memory > most else { return true }
        guard queue.total.memory - queue.total.savedMemory <= most else { return false }
        for number in queue.all.filter({ $0.block != nil && $0.isSaved }).map(\.number) where queue.total.memory > most
        {
            queue.change(number) { $0.block = nil }
        }
        return true
    }

    /// Whether a line is in memory alone.
    var isAnyUnsaved: Bool { queue.total.unsaved > 0 || !open.unsaved.isEmpty }

    /// What waits and has lines that are in memory alone.
    var unsavedParcels: [Parcel] {
        queue.total.unsaved == 0 ? [] : queue.all.filter { !$0.unsaved.isEmpty && $0.writing == 0 }
    }

    /// Notes that all lines of a parcel are in a new file.
    ///
    /// - Returns: the files that are of no use any more: those that it had, or the new one if it has left or changed meanwhile.
    mutating func keep(_ file: BlockFile, of parcel: Parcel) -> [BlockFile] {
        var useless = [file]
        let room = limits.room(of: parcel.block?.count ?? 0)
        queue.change(parcel.number) { current in
            // What is left of a batch has the number of its last parcel, and may look like it. What was tried leaves alone.
            guard current.wasTried == parcel.wasTried, current.points == parcel.points,
                current.unsaved == parcel.unsaved
            else { return }
            useless = current.files
            current.files = [file]
            current.unsaved = LineSet()
            current.room = room
        }
        leaveToFile(parcel.number)
        return useless
    }

    /// Notes that the directory was deleted: what is in memory is there alone, and no file is worth anything.
    ///
    /// - Parameter isNew: whether that was not known. Later on, nothing that is being collected is in a file.
    mutating func loseDirectory(isNew: Bool) {
        if isNew { seal() }
        for number in queue.all.filter({ $0.block != nil }).map(\.number) {
            queue.change(number) { parcel in
                parcel.files = []
                parcel.unsaved = LineSet(0..<parcel.points)
            }
        }
    }
}

/// A line that was taken in, and is on its way to its block's file.
struct LineOnItsWay: Sendable {
    let journal: BlockJournal
    /// The number of its parcel.
    let parcel: UInt64
    /// Its number in the parcel.
    let line: Int
    /// Its place in the file.
    let offset: Int
}
