import LineProtocol
import LoaderChain

/// The state of a writer, which its engine keeps behind one lock.
struct WriterState {
    var batching: BatchingState<FlushWaiter>
    var encoders: Encoders
    var statistics = WriterStatistics()
    /// What was dropped and not yet reported as points.
    private var unreported: [DropReason: Int] = [:]
    /// Reports that were sent and have not arrived as far as is known; they are sent again as they were, so that they are the same
    /// points if they have.
    private var reportsToRepeat: [DropReport] = []
    /// What was dropped and not yet told as events.
    private var untold = DropTelling()
    /// How many of the points that report drops were delivered, and rejected.
    var ownDelivered = 0
    var ownRejected = 0
    var sendings: [UInt64: Task<Void, Never>] = [:]
    var lastFlush = 0
    /// Whether no further points are taken.
    var isShutDown = false
    /// Whether nothing more is sent, and what is on its way is interrupted.
    var isEnding = false
    /// Whether nothing is tried any more.
    var isStopped = false

    // For a writer with a directory.
    private let store: JournalStore?
    /// Whether the directory was deleted, so that no file has a name any more.
    private(set) var hasLostDirectory = false
    /// Files that were written to since the disk was last synchronized; some are named twice.
    var unsynchronized: [BlockFile] = []
    private var isSynchronizing = false
    /// Whether the last thing that was done on the disk failed.
    var isDiskFailing = false

    init(_ limits: BatchingLimits, encoders: Encoders, store: JournalStore?) {
        batching = BatchingState(limits)
        self.encoders = encoders
        self.store = store
    }

    /// When there is something to do next, if that depends on time alone.
    var alarmTime: TimerInstant? { isStopped ? nil : batching.nextAlarm }

    /// The next batch to send, and the number that its end is told with.
    mutating func nextBatch(at now: TimerInstant) -> (parcels: [Parcel], number: UInt64)? {
        guard !isStopped, !isEnding, let parcels = batching.nextBatch(at: now), let last = parcels.last else {
            return nil
        }
        return (parcels, last.number)
    }

    // MARK: Taking points

    /// What came of a point, and what is to be done under no lock.
    struct Taken {
        var result: WriteResult
        /// The line, if it is to be written to a file.
        var line: LineOnItsWay?
        /// The files of points that had to go.
        var uselessFiles: [BlockFile] = []
        /// The file of the block before, which is closed under no lock.
        var closing: [BlockJournal] = []
        var tellsDrops = false
        /// Whether the engine must look what is to be done next.
        var advances = false
    }

    /// Takes in the line of an encoder, and takes the encoder back unless the line is to be written to a file.
    ///
    /// - Parameter mayDrop: whether a point may be lost for want of room, this one or others. If not, and there is none, this one does
    ///   not count.
    @inline(__always)
    mutating func take(_ scratch: Scratch, at now: TimerInstant, mayDrop: Bool) -> Taken {
        let taken = scratch.encoder.withUnsafeBytes { line in
            if store == nil, !isShutDown, !line.isEmpty, batching.takes(line.count) {
                statistics.accepted &+= 1
                return Taken(result: .inMemory, advances: batching.add(line, at: now))
            }
            return takeSlowly(line, at: now, mayDrop: mayDrop)
        }
        if taken.line == nil { encoders.takeBack(scratch) }
        return taken
    }

    @inline(never)
    private mutating func takeSlowly(_ line: UnsafeRawBufferPointer, at now: TimerInstant, mayDrop: Bool) -> Taken {
        var taken = Taken(result: .inMemory)
        let hasToldAll = untold.isEmpty
        defer { taken.closing = batching.takeClosing() }
        if let reason = makeWay(for: line.count, mayDrop: mayDrop, &taken) {
            taken.result = .dropped(reason)
            if !mayDrop, reason.isForNow { return taken }
            drop(1, reason)
        } else {
            let isNotable: Bool
            if let journal = batching.open.journal {
                (taken.line, isNotable) = batching.add(line, at: now, writing: journal)
            } else {
                isNotable = batching.add(line, at: now)
            }
            taken.advances = taken.advances || isNotable
        }
        statistics.accepted += 1
        taken.tellsDrops = hasToldAll && !untold.isEmpty
        return taken
    }

    /// Makes room for a line, and drops what has to go for it; returns why there is no room.
    private mutating func makeWay(for length: Int, mayDrop: Bool, _ taken: inout Taken) -> DropReason? {
        if isShutDown { return .shutDown }
        if length == 0 { return .notEncodable }
        if batching.limits.isTooLarge(length) { return .tooLarge }
        // Memory is bounded, too, and what is in a file need not be there.
        if isDiskFailing || batching.isAnyUnsaved, store != nil, !batching.makeMemory(for: length) { return .disk }
        guard let dropped = batching.makeRoom(for: length, mayDrop: mayDrop) else { return .noRoom }
        for parcel in dropped {
            drop(parcel.points, .noRoom)
            taken.uselessFiles += parcel.files
            // What stood before others may be gone.
            taken.advances = true
        }
        if let store, batching.open.journal == nil { batching.begin(store.begin()) }
        return nil
    }

    // MARK: Files

    /// Notes what became of a line on its way to its file.
    ///
    /// - Returns: whether its parcel is still there, and whether a synchronization is to be scheduled.
    mutating func wrote(_ line: LineOnItsWay, failed: Bool) -> (isThere: Bool, synchronizes: Bool) {
        guard batching.wrote(line, failed: failed) else { return (false, false) }
        if failed {
            statistics.unsaved += 1
        } else if unsynchronized.last != line.journal.file {
            unsynchronized.append(line.journal.file)
        }
        return (true, beginSynchronizing())
    }

    /// Whether a synchronization is to be scheduled, as none is.
    mutating func beginSynchronizing() -> Bool { !isStopped && !LoaderChain.replace(&isSynchronizing, with: true) }

    /// Whether another synchronization is to be scheduled after one has run.
    mutating func goesOnSynchronizing() -> Bool {
        isSynchronizing = !isStopped && (isDiskFailing || !unsynchronized.isEmpty || batching.isAnyUnsaved)
        return isSynchronizing
    }

    mutating func takeUnsynchronized() -> [BlockFile] { LoaderChain.replace(&unsynchronized, with: []) }

    /// Takes the file that has all lines of a parcel, and returns the files that are of no use any more.
    mutating func keep(_ file: BlockFile, of parcel: Parcel) -> [BlockFile] {
        let useless = batching.keep(file, of: parcel)
        if !useless.contains(file) { unsynchronized.append(file) }
        return useless
    }

    /// Notes that the directory was deleted.
    mutating func loseDirectory() {
        batching.loseDirectory(isNew: !LoaderChain.replace(&hasLostDirectory, with: true))
    }

    // MARK: Drops

    mutating func drop(_ count: Int, _ reason: DropReason) {
        guard count > 0 else { return }
        statistics.dropped[reason, default: 0] += count
        // At the end, the server hears of what was dropped before it.
        if !isShutDown { unreported[reason, default: 0] += count }
        untold.add(count, reason)
    }

    /// What is to be reported as points; nothing while earlier reports are to be repeated.
    ///
    /// - Parameter time: that of new reports.
    mutating func takeReports(at time: Timestamp) -> [DropReport] {
        if !reportsToRepeat.isEmpty { return LoaderChain.replace(&reportsToRepeat, with: []) }
        return takeUnreported().map { DropReport(reason: $0.reason, count: $0.count, time: time) }
    }

    /// What was dropped and not yet reported as points, in the order of the reasons.
    mutating func takeUnreported() -> [(reason: DropReason, count: Int)] {
        LoaderChain.replace(&unreported, with: [:]).sorted { $0.key.rawValue < $1.key.rawValue }
            .map { (reason: $0.key, count: $0.value) }
    }

    /// Takes back what was to be reported.
    mutating func reportAgain(_ count: Int, _ reason: DropReason) { unreported[reason, default: 0] += count }

    /// Takes back a report that may not have arrived.
    mutating func repeatLater(_ report: DropReport) { reportsToRepeat.append(report) }

    /// What is to be told as events, now or later.
    mutating func tellDrops(at now: TimerInstant, atOnce: Bool) -> DropTelling.Step {
        untold.tell(at: now, atOnce: atOnce)
    }
}

extension DropReason {
    /// Whether there may be room later.
    var isForNow: Bool { self == .noRoom || self == .disk }
}
