import LoaderChain

/// Decides for a box which reports there are, which is next, and what becomes of each.
///
/// A report's life:
///
///     submitted → writing → waiting → sending → delivered
///                             ↑          ├────→ dropped, for a reason
///                             └──────────┼────→ set aside, for a reason
///                               later ←──┘
///
/// It is a value without a lock, a disk or a clock. Its owner asks under the lock, and does on the disk what was answered after
/// unlocking. An entry belongs to the code that brought it into its phase: that writes it, sends it, or removes it. So no two
/// threads touch the same file at once.
struct BoxState {
    let settings: OutboxSettings
    let pacing: Pacing

    private(set) var slots: [BoxEntry?] = []
    private var free: [Int] = []
    private var handles: [ReportID: BoxHandle] = [:]
    var lanes: [BoxLane]
    /// Everything in the order of submission; what has gone is passed over, and swept when it is the most.
    private var byAge: [BoxHandle] = []
    private var firstByAge = 0
    private(set) var bytes: Int64 = 0
    private(set) var count = 0
    var inFlight = 0
    var nextSequence: UInt64 = 1

    /// Whether the app has said that there is no network.
    var isOffline = false
    /// Whether sending has been started.
    var isRunning = false
    var isClosed = false

    /// So many servers are kept apart; of more, some share their pauses.
    static let laneCount = 256

    init(_ settings: OutboxSettings) {
        self.settings = settings
        pacing = Pacing(
            first: settings.firstDelay, maximum: settings.maximumDelay, maximumAsked: settings.maximumRetryAfter)
        lanes = Array(repeating: BoxLane(), count: Self.laneCount)
    }

    // MARK: Looking

    subscript(handle: BoxHandle) -> BoxEntry? {
        guard handle.slot < slots.count, let entry = slots[handle.slot], entry.name.sequence == handle.sequence else {
            return nil
        }
        return entry
    }

    func handle(of id: ReportID) -> BoxHandle? { handles[id] }

    /// Every report that is in the box, in the order of submission.
    var entries: [BoxEntry] {
        byAge[firstByAge...].compactMap { self[$0] }
    }

    /// Everything that waits, in the order of submission.
    var waitingHandles: [BoxHandle] {
        byAge[firstByAge...].filter { self[$0]?.phase == .waiting }
    }

    static func lane(_ destination: UInt32) -> Int { Int(destination % UInt32(laneCount)) }

    // MARK: Changing

    /// Changes an entry that is there.
    mutating func change(_ handle: BoxHandle, _ change: (inout BoxEntry) -> Void) {
        guard var entry = self[handle] else { return }
        change(&entry)
        slots[handle.slot] = entry
    }

    mutating func insert(_ entry: BoxEntry) -> BoxHandle {
        let slot: Int
        if let freed = free.popLast() {
            slot = freed
            slots[slot] = entry
        } else {
            slot = slots.count
            slots.append(entry)
        }
        let handle = BoxHandle(slot: slot, sequence: entry.name.sequence)
        handles[entry.name.id] = handle
        byAge.append(handle)
        bytes = bytes.addingClamped(entry.name.size)
        count += 1
        return handle
    }

    mutating func remove(_ handle: BoxHandle) -> BoxEntry? {
        guard let entry = self[handle] else { return nil }
        slots[handle.slot] = nil
        free.append(handle.slot)
        if handles[entry.name.id] == handle { handles[entry.name.id] = nil }
        bytes -= entry.name.size
        count -= 1
        sweepByAge()
        return entry
    }

    mutating func resize(_ handle: BoxHandle, to size: Int64) {
        guard let entry = self[handle] else { return }
        bytes = (bytes - entry.name.size).addingClamped(size)
        slots[handle.slot]?.name.size = size
    }

    mutating func reserveCapacity(_ count: Int) {
        slots.reserveCapacity(count)
        byAge.reserveCapacity(count)
        handles.reserveCapacity(count)
    }

    private mutating func sweepByAge() {
        while firstByAge < byAge.count, self[byAge[firstByAge]] == nil { firstByAge += 1 }
        let smallest = 64
        guard byAge.count > 2 * count + smallest else { return }
        byAge = byAge[firstByAge...].filter { self[$0] != nil }
        firstByAge = 0
    }

    /// Lets an entry wait until it is due.
    mutating func wait(_ handle: BoxHandle) {
        guard let entry = self[handle] else { return }
        slots[handle.slot]?.phase = .waiting
        lanes[Self.lane(entry.name.destination)].waiting.insert(DueHeap.Item(due: entry.due, handle: handle))
    }

    mutating func withLane<Result>(of destination: UInt32, _ body: (inout BoxLane) -> Result) -> Result {
        body(&lanes[Self.lane(destination)])
    }

    mutating func countInFlight(_ step: Int, for destination: UInt32) {
        inFlight += step
        lanes[Self.lane(destination)].inFlight += step
    }

    /// The oldest entry that waits, other than one.
    func oldestIdle(except handle: BoxHandle) -> BoxHandle? {
        byAge[firstByAge...].first { candidate in
            candidate != handle && self[candidate].map { $0.phase == .waiting } == true
        }
    }
}
