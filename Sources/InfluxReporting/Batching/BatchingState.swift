import LoaderChain

// Batching: collects points in blocks, and decides when they are sent. It may use Sending, Points and Blocks.

/// Decides which points are held and when they are sent, without threads, clocks or disks.
///
/// Points are collected in one parcel. It is **sealed** when it is full or when its points are due, and then waits in a queue.
/// Everything that is held counts, so the limits hold after every point.
///
/// Reasons to send points:
/// - **enough**: the waiting points fill a batch;
/// - **idle**: no point has been written for `idleInterval`;
/// - **age**: the oldest point has waited for `maximumAge`;
/// - **flush**: the app asked for it.
///
/// All but the first *release* the points so far, up to a parcel number. A batch is taken if points are released or enough, there
/// is no pause, and fewer than `maximumInFlight` batches are in flight.
struct BatchingState<Waiter> {
    let limits: BatchingLimits
    private(set) var pacing: SendPacing
    private(set) var queue = ParcelQueue()
    /// The parcel whose points are being collected.
    ///
    /// It has the highest number, and is empty if no points were written since the last parcel was sealed.
    private(set) var open: Parcel
    /// The lines of that parcel, in memory that is reused for the next parcel.
    private var lines = LineBlock()
    /// The files of sealed parcels, which the owner closes outside the lock.
    private var closing: [BlockJournal] = []
    /// The batches in flight, by the number of their last parcel.
    private(set) var inFlight: [UInt64: (points: Int, footprint: Int)] = [:]
    private var inFlightTotal = (points: 0, footprint: 0)
    private var ledger = FlushLedger<Waiter>()

    /// All parcels up to this number are released.
    private var releasedThrough: UInt64 = 0
    /// Whether all points so far are released as soon as a batch may be sent: sealing that late avoids small parcels during a pause.
    private var isDue = false
    /// The time at which the oldest unreleased point was written; nil if there is none.
    private var waitingSince: TimerInstant?
    /// The time at which the newest point was written.
    private var newest = TimerInstant(nanoseconds: .min)
    /// The time to check whether the points are due; it does not move with each point, so the alarm need not be set again for each.
    private var lookTime = TimerInstant(nanoseconds: .min)

    init(_ limits: BatchingLimits) {
        self.limits = limits
        pacing = SendPacing(limits.pacing)
        open = Parcel(number: 1, precision: limits.precision)
    }

    // MARK: Holding

    var heldPoints: Int { open.points + queue.total.points + inFlightTotal.points }
    var heldFootprint: Int { open.footprint + queue.total.footprint + inFlightTotal.footprint }

    /// The amount by which one more line would exceed the limits.
    private func excess(with length: Int) -> (points: Int, footprint: Int) {
        let footprint = limits.footprint(of: lines.count + LineFrame.length(of: length))
        return (
            heldPoints + 1 - limits.maximumPoints, heldFootprint - open.footprint + footprint - limits.maximumFootprint
        )
    }

    /// Whether a line fits into the open parcel.
    func fits(_ length: Int) -> Bool {
        open.points == 0
            || open.points < limits.blockPoints && lines.count + LineFrame.length(of: length) <= limits.blockBytes
    }

    /// Whether a line can be added without further steps; a line that is longer than a block needs the slow path.
    func takes(_ length: Int) -> Bool {
        let excess = excess(with: length)
        return LineFrame.length(of: length) <= limits.blockBytes && fits(length) && excess.points <= 0
            && excess.footprint <= 0
    }

    /// Makes space for a line; returns the older parcels that it dropped, as `mayDrop` and the settings allow; nil if there is no space.
    mutating func makeSpace(for length: Int, mayDrop: Bool = true) -> [Parcel]? {
        if !fits(length) { seal() }
        var excess = excess(with: length)
        if excess.points <= 0, excess.footprint <= 0 { return [] }
        guard mayDrop, limits.whenFull == .dropOldest else { return nil }
        if excess.points > queue.total.points || excess.footprint > queue.total.footprint {
            // The queue is not enough, so the points that are being collected are dropped too; all others are in flight.
            seal()
            excess = self.excess(with: length)
        }
        guard excess.points <= queue.total.points, excess.footprint <= queue.total.footprint else { return nil }
        var dropped: [Parcel] = []
        while excess.points > 0 || excess.footprint > 0, let oldest = queue.popFirst() {
            excess.points -= oldest.points
            excess.footprint -= oldest.footprint
            ledger.credit(oldest.number) { $0.note(oldest.points, .bufferFull) }
            dropped.append(oldest)
        }
        return dropped
    }

    /// Adds a line, for which there must be space; returns whether the caller must check for a batch or set the alarm.
    @inline(__always)
    mutating func add(_ line: UnsafeRawBufferPointer, at now: TimerInstant) -> Bool {
        lines.append(line)
        open.points += 1
        open.bytes += line.count
        open.footprint = limits.footprint(of: lines.count)
        if now > newest { newest = now }
        if waitingSince == nil, !isDue {
            waitingSince = now
            lookTime = releaseTime(since: now)
            return true
        }
        return isEnough && canSend(at: now)
    }

    mutating func seal() {
        guard open.points > 0 else { return }
        open.block = lines.takeAll(keeping: 2 * limits.blockBytes)
        if let journal = replace(&open.journal, with: nil) { closing.append(journal) }
        queue.insert(open)
        leaveToFile(open.number)
        open = Parcel(number: open.number + 1, precision: limits.precision)
    }

    mutating func takeClosing() -> [BlockJournal] { replace(&closing, with: []) }

    /// Adds a parcel of an earlier launch, and releases it at once.
    mutating func recover(_ parcel: Parcel) {
        var parcel = parcel
        parcel.number = open.number
        queue.insert(parcel)
        releasedThrough = parcel.number
        open.number += 1
    }

    // MARK: Sending

    /// The time of the next check; nil if there is nothing to wait for.
    var nextAlarm: TimerInstant? {
        if let look = pacing.nextLook { return look }
        return waitingSince == nil ? nil : lookTime
    }

    private func releaseTime(since oldest: TimerInstant) -> TimerInstant {
        min(oldest.advanced(by: limits.maximumAge), max(newest, oldest).advanced(by: limits.idleInterval))
    }

    mutating func pass(to now: TimerInstant) {
        pacing.pass(to: now)
        guard let oldest = waitingSince else { return }
        lookTime = releaseTime(since: oldest)
        guard lookTime <= now else { return }
        waitingSince = nil
        isDue = true
    }

    mutating func release() {
        seal()
        releasedThrough = open.number - 1
        isDue = false
        waitingSince = nil
    }

    /// Takes the next batch to send, whose end the caller reports to ``ended(_:at:rest:note:)``; nil if there is none for now.
    mutating func nextBatch(at now: TimerInstant) -> [Parcel]? {
        // If lines of the first parcel are being written to its file, it is sent after that.
        guard canSend(at: now), queue.first?.writing ?? 0 == 0 else { return nil }
        if isDue { release() } else if isEnough { seal() }
        guard let first = queue.first, first.number <= releasedThrough || first.wasTried || isEnough else { return nil }
        return takeBatch()
    }

    private func canSend(at now: TimerInstant) -> Bool {
        // After a failure, one batch at a time probes the server.
        inFlight.count < (pacing.failures > 0 ? 1 : limits.maximumInFlight) && !pacing.isPaused(at: now)
    }

    /// Whether the waiting points fill a batch, or leave no space in it for another block.
    private var isEnough: Bool {
        queue.total.points + open.points >= limits.batchPoints
            || queue.total.bytes + open.bytes > limits.batchBytes - limits.blockBytes
    }

    private mutating func takeBatch() -> [Parcel]? {
        var batch: [Parcel] = []
        var (points, bytes, footprint) = (0, 0, 0)
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
            footprint += parcel.footprint
        }
        guard let last = batch.last else { return nil }
        if queue.first == nil, open.points == 0 { waitingSince = nil }
        inFlight[last.number] = (points, footprint)
        inFlightTotal = (inFlightTotal.points + points, inFlightTotal.footprint + footprint)
        return batch
    }

    /// Records the end of the batch whose last parcel has this number; `rest` has the lines to send again, if any, and `note` adds the
    /// outcome of the others to a report.
    mutating func ended(_ number: UInt64, at now: TimerInstant, rest: Parcel?, note: (inout FlushReport) -> Void) {
        if let batch = inFlight.removeValue(forKey: number) {
            inFlightTotal = (inFlightTotal.points - batch.points, inFlightTotal.footprint - batch.footprint)
        }
        ledger.credit(number, note)
        guard var rest else { return pacing.succeeded(at: now) }
        rest.number = number
        rest.wasTried = true
        // Its files still contain all lines of the batch, so with files the footprint stays the same.
        if rest.files.isEmpty { rest.footprint = limits.footprint(of: rest.block?.count ?? 0) }
        queue.insert(rest)
    }

    /// Pauses after a failed batch.
    mutating func wait(from now: TimerInstant, requested delay: Duration?, roll: Double) {
        pacing.failed(at: now, requested: delay, roll: roll)
    }

    /// Counts how long the machine has slept, during which a pause goes on.
    mutating func countSleep(until reading: ClockReading) { pacing.countSleep(until: reading) }

    // MARK: Flushing

    /// Releases all points so far, for a waiter.
    mutating func flush(_ waiter: Waiter, id: Int) {
        release()
        pacing.hurry()
        ledger.add(waiter, id: id, target: releasedThrough)
    }

    /// Removes and returns the waiters whose points are all settled.
    mutating func takeDone() -> [(Waiter, FlushReport)] {
        ledger.takeDone(oldestOutstanding: oldestOutstanding)
    }

    /// Removes and returns the waiters for a batch that cannot succeed before somebody fixes something.
    mutating func giveUp(on number: UInt64, because cause: FlushReport.PendingReason) -> [(Waiter, FlushReport)] {
        let outstanding = outstandingPoints
        return ledger.takeAll(waitingFor: number, outstanding: outstanding, because: cause)
    }

    /// Removes and returns a waiter that stops waiting.
    mutating func giveUp(_ id: Int, because cause: FlushReport.PendingReason) -> (Waiter, FlushReport)? {
        let outstanding = outstandingPoints
        return ledger.take(id, outstanding: outstanding, because: cause)
    }

    private var oldestOutstanding: UInt64? {
        let tried = inFlight.keys.min()
        guard let waits = queue.first?.number else { return tried }
        return min(waits, tried ?? .max)
    }

    /// The number of unsettled points in parcels up to a number.
    private var outstandingPoints: (UInt64) -> Int {
        let (queue, inFlight) = (queue, inFlight)
        return { number in
            queue.all.prefix { $0.number <= number }.reduce(0) { $0 + $1.points }
                + inFlight.filter { $0.key <= number }.reduce(0) { $0 + $1.value.points }
        }
    }

    /// Drops the points that are in no file, at the end of the writer, and takes the remaining waiters; `lose` gets the number of points
    /// dropped from each waiting parcel.
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

// MARK: - Files of a writer with a directory

extension BatchingState {
    /// Gives the open parcel a file, before its first line.
    mutating func begin(_ journal: BlockJournal) {
        open.journal = journal
        open.files = [journal.file]
    }

    /// Adds a line, which the caller then writes to the open parcel's file; if it `isNotable`, a look at batch and alarm follows.
    mutating func add(
        _ line: UnsafeRawBufferPointer, at now: TimerInstant, writing journal: BlockJournal
    ) -> (line: LineOnItsWay, isNotable: Bool) {
        let place = LineOnItsWay(journal: journal, parcel: open.number, line: open.points, offset: lines.count)
        open.writing += 1
        return (place, add(line, at: now))
    }

    /// Records whether a line was written to its file; returns whether its parcel still exists, and was not dropped for newer points.
    mutating func wrote(_ line: LineOnItsWay, failed: Bool) -> Bool {
        if line.parcel == open.number {
            open.wrote(line.line, failed: failed)
            return true
        }
        let isThere = queue.change(line.parcel) { $0.wrote(line.line, failed: failed) }
        leaveToFile(line.parcel)
        return isThere
    }

    /// Stops holding a line that could not be written to its file before the writer has ended.
    mutating func loseLine(of number: UInt64) {
        // A writer that is released ends without sealing the parcel.
        seal()
        queue.change(number) { parcel in
            parcel.points -= 1
            if parcel.points == 0 { parcel.footprint = 0 }
        }
    }

    /// Removes the lines of a parcel from memory if memory is over its limit and they are in a file.
    private mutating func leaveToFile(_ number: UInt64) {
        guard limits.isDurable, queue.total.memory > limits.maximumMemory else { return }
        queue.change(number) { if $0.isSaved { $0.block = nil } }
    }

    /// Makes space in memory for a line that may be in no file, by removing lines that are in files; returns whether there is space.
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

    var isAnyUnsaved: Bool { queue.total.unsaved > 0 || !open.unsaved.isEmpty }

    /// The waiting parcels with lines that are only in memory.
    var unsavedParcels: [Parcel] {
        queue.total.unsaved == 0 ? [] : queue.all.filter { !$0.unsaved.isEmpty && $0.writing == 0 }
    }

    /// Records that all lines of a parcel are in a new file, and returns the files that are no longer needed: the previous ones, or the new
    /// one if the parcel was sent or changed meanwhile.
    mutating func keep(_ file: BlockFile, of parcel: Parcel) -> [BlockFile] {
        var useless = [file]
        let footprint = limits.footprint(of: parcel.block?.count ?? 0)
        queue.change(parcel.number) { current in
            // The rest of a batch has the number of its last parcel, so it could be mistaken for that parcel.
            guard current.wasTried == parcel.wasTried, current.points == parcel.points,
                current.unsaved == parcel.unsaved
            else { return }
            useless = current.files
            current.files = [file]
            current.unsaved = LineSet()
            current.footprint = footprint
        }
        leaveToFile(parcel.number)
        return useless
    }

    /// Records that the directory was deleted: the lines in memory are in no file any more.
    ///
    /// - Parameter isNew: whether this is the first time. Later, no line that is being collected is in a file.
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

/// An accepted line that is being written to its block's file.
struct LineOnItsWay: Sendable {
    let journal: BlockJournal
    let parcel: UInt64
    /// The number of the line in the parcel.
    let line: Int
    /// The position of the line in the file.
    let offset: Int
}
