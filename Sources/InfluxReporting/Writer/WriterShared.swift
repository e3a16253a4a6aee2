import LineProtocol
import LoaderChain

/// What a writer's threads share, behind one lock.
///
/// A thread that holds the lock of a stripe may take this one; never the other way around.
struct WriterShared {
    var batching: BatchingState<HeldLines, FlushWaiter>
    var statistics = WriterStatistics()
    /// Blocks that are ready to be filled.
    private(set) var spares: [LineBlock] = []
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
    /// Whether the directory was deleted, so that no file has a name any more.
    private(set) var hasLostDirectory = false
    /// The room that the lines of handed in blocks take up in memory.
    private(set) var memoryRoom = 0
    /// The part of it that is not in files.
    private var unsavedRoom = 0
    /// Memory of blocks that are in their files alone, for the next ones; so that memory does not go to pieces.
    private var memories: [HeapMemory] = []
    /// Files of blocks that were handed in or found since the disk was last synchronized.
    var unsynchronized: [BlockFile] = []
    var isSynchronizing = false
    /// How often a synchronization was asked for.
    var synchronizationRequests = 0
    /// Whether the last thing that was done on the disk failed.
    var isDiskFailing = false

    let precision: Precision
    private let mostSpares: Int
    private let isDurable: Bool
    private let maximumMemory: Int

    init(_ limits: BatchingLimits, settings: WriterSettings, isDurable: Bool) {
        batching = BatchingState(limits)
        precision = settings.precision
        self.isDurable = isDurable
        maximumMemory = settings.maximumBytes
        mostSpares = limits.stripes * 2
    }

    /// When there is something to do next, if that depends on time alone.
    var alarmTime: TimerInstant? { isStopped ? nil : batching.nextAlarm }

    // MARK: Blocks

    /// What came of a request for a block.
    enum BlockGrant {
        case given(LineBlock)
        /// There is room, but one has to be made first, outside the lock.
        case toBeMade
        case refused(DropReason)
    }

    /// Grants a block, and drops what has to go for it.
    ///
    /// - Parameters:
    ///   - prepared: one that was made for this; if it is there afterwards, it is used for nothing.
    ///   - points: how many points it takes.
    ///   - room: the room that it must have.
    ///   - mayDrop: whether others may have to go for it.
    mutating func grantBlock(
        _ prepared: inout LineBlock?, points: Int, room: Int, mayDrop: Bool, dropped: inout [HeldLines]
    ) -> BlockGrant {
        if isShutDown { return .refused(.shutDown) }
        if isDurable, unsavedRoom > 0 || isDiskFailing || (prepared.map { $0.file == nil } ?? false) {
            // Memory is bounded, too, and what is in a file need not be there.
            if memoryRoom + room > maximumMemory { dismissSaved(for: room) }
            if memoryRoom + room > maximumMemory { return .refused(.disk) }
        }
        var block = prepared
        if block == nil, let place = spares.lastIndex(where: { $0.room >= room && $0.maximumPoints >= points }) {
            block = spares.remove(at: place)
        }
        switch batching.grant(
            points: block?.maximumPoints ?? points, room: block?.room ?? room, mayDrop: mayDrop)
        {
        case .refused:
            if let block, keep(block) { prepared = nil }
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
            prepared = nil
            return .given(block)
        }
    }

    /// Keeps a block for later, unless there are enough; returns whether it does.
    @discardableResult
    mutating func keep(_ block: LineBlock) -> Bool {
        // One that was made while the disk failed is not used a second time.
        guard spares.count < mostSpares, isDurable == (block.file != nil) else { return false }
        spares.append(block)
        return true
    }

    mutating func takeSpares() -> [LineBlock] { LoaderChain.replace(&spares, with: []) }

    /// Keeps the block of lines that are done with, for other lines.
    private mutating func recycle(_ lines: HeldLines) {
        guard !isDurable, case .block(let block) = lines, block.room == batching.limits.blockRoom,
            block.maximumPoints == batching.limits.blockPoints
        else { return }
        block.reset()
        keep(block)
    }

    /// Takes in a block that a stripe has filled.
    mutating func handIn(_ block: LineBlock) {
        batching.takeBack(points: block.maximumPoints, room: block.room)
        var lines = HeldLines.block(block)
        // Before it is emptied.
        let (points, bytes) = (block.points, block.bytes)
        var room = block.room
        if let file = block.file {
            if block.synchronized.load(ordering: .relaxed) < block.used { unsynchronized.append(file) }
            block.close()
            room = Self.roomOnDisk(block.used)
            // A line that is on its way to the file would not be found there.
            if block.isSaved, memoryRoom + block.room > maximumMemory {
                lines = .stored(file)
                keepMemory(of: block)
            }
        } else if block.isMostlyEmpty {
            let small = block.shrunk()
            recycle(lines)
            (lines, room) = (.block(small), small.room)
        }
        let number = batching.handIn(
            Parcel(
                number: 0, points: points, bytes: bytes, room: room, precision: precision, content: lines))
        guard case .block(let held) = lines, isDurable else { return }
        held.number = number
        memoryRoom += held.room
        held.isInMemory = true
        countAsUnsaved(held)
    }

    /// Lets go of lines that were sent or dropped.
    mutating func letGo(_ lines: HeldLines) {
        if case .block(let block) = lines, isDurable { forget(block) }
        recycle(lines)
    }

    // MARK: Memory and files

    /// Takes memory of a block that was handed in, if there is any of that size.
    mutating func takeMemory(room: Int) -> HeapMemory? {
        memories.last?.capacity == room ? memories.popLast() : nil
    }

    private mutating func keepMemory(of block: LineBlock) {
        // The memory of others may still be read: by a line on its way to the file, or by what saves them.
        guard block.isSaved, block.room == batching.limits.blockRoom, memories.count < mostSpares else { return }
        memories.append(block.memory)
    }

    /// A block is not held in memory any more.
    private mutating func forget(_ block: LineBlock) {
        memoryRoom -= block.room
        if block.isCountedAsUnsaved { unsavedRoom -= block.room }
        block.isInMemory = false
        keepMemory(of: block)
    }

    /// All lines of a block that was handed in are in its file, or never will be.
    mutating func settled(_ block: LineBlock) {
        guard block.isInMemory else { return }
        countAsUnsaved(block)
        if block.isSaved, memoryRoom > maximumMemory { dismiss(block) }
    }

    private mutating func countAsUnsaved(_ block: LineBlock) {
        guard block.file == nil || block.isBroken, !block.isCountedAsUnsaved else { return }
        block.isCountedAsUnsaved = true
        unsavedRoom += block.room
    }

    /// Notes that the directory was deleted: what is in memory is there alone, and no file is worth anything.
    ///
    /// - Returns: blocks that are of no use any more.
    mutating func loseDirectory() -> [LineBlock] {
        hasLostDirectory = true
        for parcel in batching.queue.all {
            switch parcel.content {
            case .block(let block):
                block.loseFile()
                countAsUnsaved(block)
            case .stored: continue
            case .batch(let batch, _, _):
                let unsaved = LineSet(0..<batch.count)
                batching.change(parcel.number) { $0.content = .batch(batch, files: [], unsaved: unsaved) }
            }
        }
        return takeSpares()
    }

    /// Leaves a block to its file.
    private mutating func dismiss(_ block: LineBlock) {
        guard let file = block.file else { return }
        var isLeft = false
        batching.change(block.number) { parcel in
            guard case .block(let other) = parcel.content, other === block else { return }
            parcel.content = .stored(file)
            isLeft = true
        }
        if isLeft { forget(block) }
    }

    /// Leaves blocks to their files until there is room for others.
    private mutating func dismissSaved(for room: Int) {
        guard memoryRoom > unsavedRoom else { return }
        for parcel in batching.queue.all {
            guard memoryRoom + room > maximumMemory else { return }
            if case .block(let block) = parcel.content, block.isSaved { dismiss(block) }
        }
    }

    /// What waits and is held in memory alone, or has lines that are.
    var unsavedParcels: [Parcel<HeldLines>] {
        // What was tried is in front.
        let parcels = unsavedRoom > 0 ? batching.queue.all : batching.queue.all.prefix { $0.wasTried }
        return parcels.filter { parcel in
            switch parcel.content {
            case .block(let block): block.isSettled && !block.isSaved
            case .stored: false
            case .batch(_, _, let unsaved): !unsaved.isEmpty
            }
        }
    }

    /// Takes the file of a block that has the unsaved lines of a parcel, or all of them.
    ///
    /// - Returns: the file that is of no use any more, if there is one: that of the parcel, or the new one if the parcel has left.
    mutating func keep(_ saved: LineBlock, of parcel: Parcel<HeldLines>) -> BlockFile? {
        guard let file = saved.file else { return nil }
        var useless: BlockFile? = file
        batching.change(parcel.number) { current in
            switch (parcel.content, current.content) {
            case (.block(let block), .block(let other)) where block === other:
                current.content = .stored(file)
                current.room = Self.roomOnDisk(saved.used)
                useless = block.file
            // It may have been tried again meanwhile, and be another one by now.
            case (.batch(let batch, _, let unsaved), .batch(let other, let files, let others))
            where batch.count == other.count && unsaved == others:
                current.content = .batch(other, files: files + [file], unsaved: LineSet())
                current.room += Self.roomOnDisk(saved.used)
                useless = nil
            default: return
            }
        }
        guard useless != file else { return file }
        unsynchronized.append(file)
        if case .block(let block) = parcel.content { forget(block) }
        return useless
    }

    /// Files take up whole pages.
    static func roomOnDisk(_ bytes: Int) -> Int {
        let page = 4_096
        return (bytes + page - 1) / page * page
    }

    mutating func takeUnsynchronized() -> [BlockFile] { LoaderChain.replace(&unsynchronized, with: []) }

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

    var hasToldDrops: Bool { untold.isEmpty }
}
