import LineProtocol
import LoaderChain

/// What a writer's threads share, behind one lock.
///
/// Whoever holds the lock of a stripe may take this one; never the other way around.
struct WriterShared {
    var batching: BatchingState<HeldLines, FlushWaiter>
    var alarm = WriterAlarm()
    var statistics = WriterStatistics()
    /// Blocks that are ready to be filled.
    private(set) var spares: [LineBlock] = []
    /// What was dropped and not yet reported as points.
    private(set) var unreported: [DropReason: Int] = [:]
    /// What was dropped and not yet told as events.
    private(set) var untold: [DropReason: Int] = [:]
    var sendings: [UInt64: Task<Void, Never>] = [:]
    var lastFlush = 0
    /// Whether no further points are taken.
    var isShutDown = false
    /// Whether nothing is tried any more.
    var isStopped = false

    // For a writer with a directory.
    /// The room that the lines of handed in blocks take up in memory.
    private(set) var memoryRoom = 0
    /// Files of blocks that were handed in or found since the disk was last synchronized.
    var unsynchronized: [BlockFile] = []
    var isSynchronizing = false
    /// How often somebody wanted to be synchronized.
    var synchronizationWishes = 0
    /// Whether the last thing that was done on the disk failed.
    var isDiskFailing = false

    let precision: Precision
    private let mostSpares: Int
    private let isDurable: Bool
    private let maximumMemory: Int

    init(_ settings: BatchingSettings, policy: WriterPolicy, isDurable: Bool) {
        batching = BatchingState(settings)
        precision = policy.precision
        self.isDurable = isDurable
        maximumMemory = policy.maximumBytes
        mostSpares = settings.stripes * 2
    }

    /// Sets the alarm for what comes next.
    mutating func setAlarm() -> WriterAlarm.Setting? { alarm.set(for: isStopped ? nil : batching.nextAlarm) }

    // MARK: Blocks

    /// What came of the wish for a block.
    enum Wish {
        case given(LineBlock)
        /// There is room, but one has to be made first, outside the lock.
        case toBeMade
        case refused(DropReason)
    }

    /// Grants a block, and drops what has to go for it.
    ///
    /// - Parameters:
    ///   - prepared: one that was made for this.
    ///   - points: how many points it takes.
    ///   - room: the room that it must have.
    mutating func wish(_ prepared: LineBlock?, points: Int, room: Int, dropped: inout [HeldLines]) -> Wish {
        if isShutDown { return .refused(.shutDown) }
        if isDurable, let prepared, prepared.file == nil, memoryRoom + room > maximumMemory {
            // The disk has failed, and memory is bounded, too.
            return .refused(.disk)
        }
        var block = prepared
        if block == nil, let place = spares.lastIndex(where: { $0.room >= room && $0.maximumPoints >= points }) {
            block = spares.remove(at: place)
        }
        switch batching.grant(points: block?.maximumPoints ?? points, room: block?.room ?? room) {
        case .refused:
            if let block { keep(block) }
            return .refused(.noRoom)
        case .given(let parcels):
            for parcel in parcels {
                drop(parcel.points, .noRoom)
                dropped.append(parcel.content)
                letGo(parcel.content)
            }
            if block == nil, let place = spares.lastIndex(where: { $0.room >= room && $0.maximumPoints >= points }) {
                block = spares.remove(at: place)
            }
            guard let block else {
                batching.takeBack(points: points, room: room)
                return .toBeMade
            }
            return .given(block)
        }
    }

    /// Keeps a block for later, unless there are enough.
    mutating func keep(_ block: LineBlock) {
        // One that was made while the disk failed is not used a second time.
        if spares.count < mostSpares, isDurable == (block.file != nil) { spares.append(block) }
    }

    /// Gives all spare blocks away.
    mutating func takeSpares() -> [LineBlock] { exchange(&spares, with: []) }

    /// Keeps the block of lines that nobody needs any more.
    private mutating func recycle(_ lines: HeldLines) {
        guard case .block(let block) = lines, block.file == nil,
            block.room == batching.settings.blockRoom, block.maximumPoints == batching.settings.blockPoints
        else { return }
        block.reset()
        keep(block)
    }

    /// Takes in what a stripe has filled.
    mutating func handIn(_ block: LineBlock) {
        batching.takeBack(points: block.maximumPoints, room: block.room)
        var lines = HeldLines.block(block)
        // Before it is emptied.
        let (points, bytes) = (block.points, block.bytes)
        var room = block.room
        if let file = block.file {
            if block.synchronized < block.used { unsynchronized.append(file) }
            block.close()
            room = Self.roomOnDisk(block.used)
            // A line that is on its way to the file would not be found there.
            let isComplete = block.writes.load(ordering: .acquiring) == 0
            if isComplete, memoryRoom + block.room > maximumMemory { lines = .stored(file) }
        } else if block.isMostlyEmpty {
            let small = block.shrunk()
            recycle(lines)
            (lines, room) = (.block(small), small.room)
        }
        if case .block(let block) = lines, isDurable { memoryRoom += block.room }
        batching.handIn(
            Parcel(
                number: 0, points: points, bytes: bytes, room: room, precision: precision, content: lines))
    }

    /// Lets go of lines that were sent or dropped.
    mutating func letGo(_ lines: HeldLines) {
        if case .block(let block) = lines, isDurable { memoryRoom -= block.room }
        recycle(lines)
    }

    /// Files take up whole pages.
    static func roomOnDisk(_ bytes: Int) -> Int {
        let page = 4_096
        return (bytes + page - 1) / page * page
    }

    /// What is to be synchronized.
    mutating func takeUnsynchronized() -> [BlockFile] { exchange(&unsynchronized, with: []) }

    // MARK: Drops

    mutating func drop(_ count: Int, _ reason: DropReason) {
        guard count > 0 else { return }
        statistics.dropped[reason, default: 0] += count
        unreported[reason, default: 0] += count
        untold[reason, default: 0] += count
    }

    /// What is to be reported as points.
    mutating func takeUnreported() -> [DropReason: Int] { exchange(&unreported, with: [:]) }

    /// What is to be told as events.
    mutating func takeUntold() -> [DropReason: Int] { exchange(&untold, with: [:]) }
}

extension WriterShared {
    /// Whether nothing was dropped for this reason that was not reported yet.
    func takesFirstDrop(_ reason: DropReason) -> Bool { untold[reason] == nil && unreported[reason] == nil }
}
