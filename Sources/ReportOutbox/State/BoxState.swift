// State: what a box knows and decides, as a value without a lock, a disk or a clock. It may use Settings, Reports and Store.

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
    var lanes: [BoxLane] = []
    /// Everything in the order of submission; what has gone is passed over, and swept when it is the most.
    private var byAge: [BoxHandle] = []
    private var firstByAge = 0
    private(set) var bytes: Int64 = 0
    private(set) var count = 0
    /// How many reports and bytes there are of each priority, by its rank.
    private var loads = ReportPriority.all.map { _ in (count: 0, bytes: Int64(0)) }
    var inFlight = 0
    var nextSequence: UInt64 = 1

    var consent: ReportConsent
    /// Whether the app has said that there is no network.
    var isOffline = false
    /// What the app has said of the network.
    var conditions: NetworkConditions = []
    /// Whether sending has been started.
    var isRunning = false
    var isClosed = false

    /// The lane of each server.
    private var laneOfDestination: [UInt32: Int] = [:]
    /// So many servers are kept apart; of more, some share their pauses.
    private static let mostLanes = 1_024

    init(_ settings: OutboxSettings) {
        self.settings = settings
        pacing = Pacing(
            first: settings.firstDelay, maximum: settings.maximumDelay, maximumAsked: settings.maximumRetryAfter)
        consent = settings.consent
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

    /// What waits, and what the app is being asked about, in the order of submission.
    var unsentHandles: [BoxHandle] {
        byAge[firstByAge...].filter { self[$0]?.phase == .waiting || self[$0]?.phase == .held }
    }

    /// The lane of a server, which gets one of its own with its first report.
    mutating func lane(_ destination: UInt32) -> Int {
        if let lane = laneOfDestination[destination] { return lane }
        guard lanes.count < Self.mostLanes else { return Int(destination % UInt32(Self.mostLanes)) }
        laneOfDestination[destination] = lanes.count
        lanes.append(BoxLane())
        return lanes.count - 1
    }

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
        countLoad(1, entry.name.size, of: entry.name.priority)
        return handle
    }

    mutating func remove(_ handle: BoxHandle) -> BoxEntry? {
        guard let entry = self[handle] else { return nil }
        slots[handle.slot] = nil
        free.append(handle.slot)
        if handles[entry.name.id] == handle { handles[entry.name.id] = nil }
        bytes -= entry.name.size
        count -= 1
        countLoad(-1, -entry.name.size, of: entry.name.priority)
        sweepByAge()
        return entry
    }

    mutating func resize(_ handle: BoxHandle, to size: Int64) {
        guard let entry = self[handle] else { return }
        bytes = (bytes - entry.name.size).addingClamped(size)
        countLoad(0, size - entry.name.size, of: entry.name.priority)
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
        let lane = lane(entry.name.destination)
        lanes[lane].waiting[entry.name.priority].insert(DueHeap.Item(due: entry.due, handle: handle))
    }

    mutating func withLane<Result>(of destination: UInt32, _ body: (inout BoxLane) -> Result) -> Result {
        let lane = lane(destination)
        return body(&lanes[lane])
    }

    mutating func countInFlight(_ step: Int, for destination: UInt32) {
        inFlight += step
        withLane(of: destination) { $0.inFlight += step }
    }

    private mutating func countLoad(_ count: Int, _ bytes: Int64, of priority: ReportPriority) {
        loads[priority.rank].count += count
        loads[priority.rank].bytes = loads[priority.rank].bytes.addingClamped(bytes)
    }

    /// How many reports and bytes there are that matter more than one of a priority.
    func load(above priority: ReportPriority) -> (count: Int, bytes: Int64) {
        loads[(priority.rank + 1)...].reduce((0, 0)) { ($0.0 + $1.count, $0.1.addingClamped($1.bytes)) }
    }

    /// The oldest of the least important entries that wait, other than one, and that matter no more than a priority.
    func firstToGo(except handle: BoxHandle, upTo priority: ReportPriority) -> BoxHandle? {
        for candidate in ReportPriority.all where candidate <= priority && loads[candidate.rank].count > 0 {
            let oldest = byAge[firstByAge...].first { other in
                other != handle && self[other].map { $0.phase == .waiting && $0.name.priority == candidate } == true
            }
            if let oldest { return oldest }
        }
        return nil
    }
}

/// A report in the box.
struct BoxEntry: Sendable {
    enum Phase: Sendable {
        /// Its file is being written, and nothing was promised yet.
        case writing
        /// The app is being asked about it.
        case held
        /// It waits for its time, or for its turn.
        case waiting
        /// An attempt is under way.
        case sending
        /// It is done with, and its file is being seen to.
        case leaving
    }

    /// The name of its file, which is the state that the next launch finds.
    var name: RecordName
    var phase: Phase
    /// Since when it counts as old, in the box's time; before the box was opened for one that was found.
    var born: TimerInstant
    /// When it may next be tried, in the box's time.
    var due: TimerInstant
    /// Why it is to be set aside, if that could not be done.
    var lossToSetAside: ReportLoss?
    /// Whether the app wants it to be tried before its time.
    var isHurried = false
    /// Whether an earlier launch left it.
    var wasFound = false
    /// How often in a row its bytes could not be read.
    var readFailures = 0
    /// Attempts that have begun and could not be written down.
    var unwrittenAttempts: UInt32 = 0

    /// How many attempts have begun and were not taken back.
    var attempts: UInt32 {
        let (attempts, isTooMany) = name.attempts.addingReportingOverflow(unwrittenAttempts)
        return isTooMany ? .max : attempts
    }
}

/// Where an entry is; of no use once the entry is gone.
struct BoxHandle: Hashable, Sendable {
    let slot: Int
    let sequence: UInt64
}
