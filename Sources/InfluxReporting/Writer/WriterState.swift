import LineProtocol
import LoaderChain

/// The state of a writer, which its engine protects by one lock.
struct WriterState {
    var batching: BatchingState<FlushWaiter>
    var encoders: Encoders
    var statistics = WriterStatistics()
    /// The drops that were not yet reported as points.
    private var unreported: [DropReason: Int] = [:]
    /// Reports that were sent without a confirmation; they are sent again unchanged, so that the server stores them once.
    private var reportsToRepeat: [DropReport] = []
    private var unannounced = DropAnnouncements()
    /// The numbers of points about drops that were delivered, and rejected.
    var ownDelivered = 0
    var ownRejected = 0
    var sendings: [UInt64: Task<Void, Never>] = [:]
    var lastFlush = 0
    private(set) var phase = Phase.open

    // For a writer with a directory.
    private let store: JournalStore?
    /// Whether the directory was deleted, so that the files no longer have names.
    private(set) var hasLostDirectory = false
    /// The files that were written to since the last synchronization; some are listed twice.
    var unsynchronized: [BlockFile] = []
    private var isSynchronizing = false
    /// Whether the last disk operation failed.
    var isDiskFailing = false

    init(_ limits: BatchingLimits, encoders: Encoders, store: JournalStore?) {
        batching = BatchingState(limits)
        self.encoders = encoders
        self.store = store
    }

    /// How far the writer is on its way to the end; it never goes back.
    enum Phase: Comparable {
        case open
        /// New points are refused.
        case shutDown
        /// No further batch is sent either, and batches in flight are cancelled.
        case ending
        case stopped
    }

    var isShutDown: Bool { phase != .open }
    var isStopped: Bool { phase == .stopped }

    mutating func enter(_ next: Phase) { phase = max(phase, next) }

    /// The time of the next step, if it depends on time alone.
    var alarmTime: TimerInstant? { isStopped ? nil : batching.nextAlarm }

    /// The next batch to send, and the number of its last parcel.
    mutating func nextBatch(at now: TimerInstant) -> (parcels: [Parcel], number: UInt64)? {
        guard phase < .ending, let parcels = batching.nextBatch(at: now), let last = parcels.last else { return nil }
        return (parcels, last.number)
    }

    // MARK: Accepting points

    /// The result for a point, and the work left to do outside the lock.
    struct Taken {
        var result: WriteResult
        /// The line, if the caller must write it to a file.
        var line: LineOnItsWay?
        /// The files of dropped points.
        var uselessFiles: [BlockFile] = []
        /// The files of full blocks, which are closed outside the lock.
        var closing: [BlockJournal] = []
        var announcesDrops = false
        /// Whether the engine must check for the next step.
        var advances = false
    }

    /// Accepts the line of an encoder, and returns the encoder to the pool unless the line must be written to a file; a full writer drops
    /// this point or others if `mayDrop`, and otherwise refuses this point without counting it.
    @inline(__always)
    mutating func take(_ scratch: Scratch, at now: TimerInstant, mayDrop: Bool) -> Taken {
        let taken = scratch.encoder.withUnsafeBytes { line in
            if store == nil, !isShutDown, !line.isEmpty, batching.takes(line.count) {
                statistics.accepted &+= 1
                return Taken(result: .inMemory, advances: batching.add(line, at: now))
            }
            return takeSlowly(line, at: now, mayDrop: mayDrop)
        }
        // The caller tries again, and encodes the point anew.
        if !mayDrop, case .dropped(let reason) = taken.result, reason.isTemporary { _ = scratch.encoder.takeRepairs() }
        if taken.line == nil { encoders.takeBack(scratch) }
        return taken
    }

    @inline(never)
    private mutating func takeSlowly(_ line: UnsafeRawBufferPointer, at now: TimerInstant, mayDrop: Bool) -> Taken {
        var taken = Taken(result: .inMemory)
        let hasAnnouncedAll = unannounced.isEmpty
        let refusal = makeSpace(for: line.count, mayDrop: mayDrop, &taken)
        taken.closing = batching.takeClosing()
        if let reason = refusal {
            taken.result = .dropped(reason)
            if !mayDrop, reason.isTemporary { return taken }
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
        taken.announcesDrops = hasAnnouncedAll && !unannounced.isEmpty
        return taken
    }

    /// Makes space for a line, and drops older points if necessary; returns the reason if there is no space.
    private mutating func makeSpace(for length: Int, mayDrop: Bool, _ taken: inout Taken) -> DropReason? {
        if isShutDown { return .shutDown }
        if length == 0 { return .notEncodable }
        if batching.limits.isTooLarge(length) { return .tooLarge }
        // Memory is limited, too; lines that are in a file can be removed from it.
        if isDiskFailing || batching.isAnyUnsaved, store != nil, !batching.makeMemory(for: length) { return .disk }
        guard let dropped = batching.makeSpace(for: length, mayDrop: mayDrop) else { return .bufferFull }
        for parcel in dropped {
            drop(parcel.points, .bufferFull)
            taken.uselessFiles += parcel.files
            // A dropped parcel may have been the first in the queue, which others waited for.
            taken.advances = true
        }
        if let store, batching.open.journal == nil { batching.begin(store.begin()) }
        return nil
    }

    // MARK: Files

    /// Records whether a line was written to its file; if `synchronizes`, the caller must schedule a synchronization.
    mutating func wrote(_ line: LineOnItsWay, failed: Bool) -> (result: WriteResult, synchronizes: Bool) {
        // After the end, nothing saves a line that is only in memory.
        let isLost = failed && isStopped
        guard batching.wrote(line, failed: failed && !isLost) else { return (.dropped(.bufferFull), false) }
        if isLost {
            batching.loseLine(of: line.parcel)
            drop(1, .unsent)
            return (.dropped(.unsent), false)
        }
        if failed {
            statistics.unsaved += 1
        } else if unsynchronized.last != line.journal.file {
            unsynchronized.append(line.journal.file)
        }
        return (failed ? .inMemory : .saved, beginSynchronizing())
    }

    /// Whether the caller must schedule a synchronization, because none is scheduled.
    mutating func beginSynchronizing() -> Bool { !isStopped && !replace(&isSynchronizing, with: true) }

    /// Whether the caller must schedule another synchronization after the last has run.
    mutating func goesOnSynchronizing() -> Bool {
        isSynchronizing = !isStopped && (isDiskFailing || !unsynchronized.isEmpty || batching.isAnyUnsaved)
        return isSynchronizing
    }

    mutating func takeUnsynchronized() -> [BlockFile] { replace(&unsynchronized, with: []) }

    /// Assigns a file that contains all lines of a parcel, and returns the files that are no longer needed.
    mutating func keep(_ file: BlockFile, of parcel: Parcel) -> [BlockFile] {
        let useless = batching.keep(file, of: parcel)
        if !useless.contains(file) { unsynchronized.append(file) }
        return useless
    }

    mutating func loseDirectory() {
        batching.loseDirectory(isNew: !replace(&hasLostDirectory, with: true))
    }

    // MARK: Drops

    mutating func drop(_ count: Int, _ reason: DropReason) {
        guard count > 0 else { return }
        statistics.dropped[reason, default: 0] += count
        // The last points about drops are written when the shutdown begins.
        if !isShutDown { unreported[reason, default: 0] += count }
        unannounced.add(count, reason)
    }

    /// Takes the drops to report as points; unconfirmed earlier reports come first, and alone, and new ones get this timestamp.
    mutating func takeReports(at time: Timestamp) -> [DropReport] {
        if !reportsToRepeat.isEmpty { return replace(&reportsToRepeat, with: []) }
        return takeUnreported().map { DropReport(reason: $0.reason, count: $0.count, time: time) }
    }

    /// Takes the drops that were not yet reported as points, ordered by reason.
    mutating func takeUnreported() -> [(reason: DropReason, count: Int)] {
        replace(&unreported, with: [:]).sorted { $0.key.rawValue < $1.key.rawValue }
            .map { (reason: $0.key, count: $0.value) }
    }

    /// Takes back drops that could not be reported.
    mutating func reportAgain(_ count: Int, _ reason: DropReason) { unreported[reason, default: 0] += count }

    /// Takes back a report that may not have been delivered.
    mutating func repeatLater(_ report: DropReport) { reportsToRepeat.append(report) }

    /// Decides which drops to announce as events, now or later.
    mutating func announceDrops(at now: TimerInstant, atOnce: Bool) -> DropAnnouncements.Step {
        unannounced.announce(at: now, atOnce: atOnce)
    }
}

extension DropReason {
    /// Whether waiting may help.
    var isTemporary: Bool { self == .bufferFull || self == .disk }
}
