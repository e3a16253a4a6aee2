// State: the state and the decisions of an outbox, as a value without a lock, a disk or a clock. It may use Settings, Reports and
// Store.

import LoaderChain

/// Decides which reports an outbox holds, which is sent next, and what happens to each.
///
/// A report's life:
///
///     submitted → writing → waiting → sending → delivered
///                             ↑          ├────→ dropped, for a reason
///                             └──────────┼────→ dead letter, for a reason
///                               later ←──┘
///
/// It is a value without a lock, a disk or a clock. Its owner calls it under the lock, and carries out its decisions on disk after
/// unlocking. An entry belongs to the code that put it into its phase and now writes it, sends it, or removes it, so two threads
/// never use the same file at the same time.
struct OutboxState {
    let settings: OutboxSettings
    let pacing: Pacing

    private(set) var slots: [OutboxEntry?] = []
    private var free: [Int] = []
    private var handles: [ReportID: OutboxHandle] = [:]
    var lanes: [OutboxLane] = []
    /// All reports in the order of submission; removed ones are skipped, and swept when they are the majority.
    private var byAge: [OutboxHandle] = []
    private var firstByAge = 0
    private(set) var bytes: Int64 = 0
    private(set) var count = 0
    /// The number and total size of the reports of each priority, by its rank.
    private var loads = ReportPriority.all.map { _ in (count: 0, bytes: Int64(0)) }
    var inFlight = 0
    var nextSequence: UInt64 = 1

    var consent: ReportConsent
    /// Whether the app has reported that no network is available.
    var isOffline = false
    /// The conditions of the network, as the app reported them.
    var conditions: NetworkConditions = []
    var isRunning = false
    var isClosed = false

    private var laneOfDestination: [UInt32: Int] = [:]
    /// The maximum number of lanes; further servers share lanes, and their pauses.
    private static let mostLanes = 1_024

    init(_ settings: OutboxSettings) {
        self.settings = settings
        pacing = Pacing(
            first: settings.firstDelay, maximum: settings.maximumDelay, maximumAsked: settings.maximumRetryAfter)
        consent = settings.consent
    }

    // MARK: Looking

    subscript(handle: OutboxHandle) -> OutboxEntry? {
        guard handle.slot < slots.count, let entry = slots[handle.slot], entry.name.sequence == handle.sequence else {
            return nil
        }
        return entry
    }

    func handle(of id: ReportID) -> OutboxHandle? { handles[id] }

    /// All reports in the outbox, in the order of submission.
    var entries: [OutboxEntry] {
        byAge[firstByAge...].compactMap { self[$0] }
    }

    /// All waiting reports, in the order of submission.
    var waitingHandles: [OutboxHandle] {
        byAge[firstByAge...].filter { self[$0]?.phase == .waiting }
    }

    /// Marks the reports that leave as soon as what is done with them has ended.
    mutating func markUnwanted() {
        for handle in byAge[firstByAge...] {
            switch self[handle]?.phase {
            case .writing, .held, .sending: change(handle) { $0.isUnwanted = true }
            case .waiting, .leaving, nil: break
            }
        }
    }

    /// Lets a waiting report leave if it was marked; returns whether it was.
    mutating func takeIfUnwanted(_ handle: OutboxHandle) -> Bool {
        guard let entry = self[handle], entry.isUnwanted, entry.phase == .waiting else { return false }
        change(handle) { $0.phase = .leaving }
        return true
    }

    /// All reports that are waiting or that the app is being asked about, in the order of submission.
    var unsentHandles: [OutboxHandle] {
        byAge[firstByAge...].filter { self[$0]?.phase == .waiting || self[$0]?.phase == .held }
    }

    /// The lane of a server; it is created for the server's first report.
    mutating func lane(_ destination: UInt32) -> Int {
        if let lane = laneOfDestination[destination] { return lane }
        guard lanes.count < Self.mostLanes else { return Int(destination % UInt32(Self.mostLanes)) }
        laneOfDestination[destination] = lanes.count
        lanes.append(OutboxLane())
        return lanes.count - 1
    }

    // MARK: Changing

    /// Changes an entry, if it exists.
    mutating func change(_ handle: OutboxHandle, _ change: (inout OutboxEntry) -> Void) {
        guard var entry = self[handle] else { return }
        change(&entry)
        slots[handle.slot] = entry
    }

    mutating func insert(_ entry: OutboxEntry) -> OutboxHandle {
        let slot: Int
        if let freed = free.popLast() {
            slot = freed
            slots[slot] = entry
        } else {
            slot = slots.count
            slots.append(entry)
        }
        let handle = OutboxHandle(slot: slot, sequence: entry.name.sequence)
        handles[entry.name.id] = handle
        byAge.append(handle)
        bytes = bytes.addingClamped(entry.name.size)
        count += 1
        countLoad(1, entry.name.size, of: entry.name.priority)
        return handle
    }

    mutating func remove(_ handle: OutboxHandle) -> OutboxEntry? {
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

    mutating func resize(_ handle: OutboxHandle, to size: Int64) {
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

    /// Queues an entry until it is due.
    mutating func wait(_ handle: OutboxHandle) {
        guard let entry = self[handle] else { return }
        slots[handle.slot]?.phase = .waiting
        let lane = lane(entry.name.destination)
        lanes[lane].waiting[entry.name.priority].insert(DueHeap.Item(due: entry.due, handle: handle))
        sweepWaiting(in: lane, entry.name.priority)
    }

    /// Whether an item of a heap is still that of a waiting entry.
    func isValid(_ item: DueHeap.Item) -> Bool {
        let entry = self[item.handle]
        return entry?.phase == .waiting && entry?.due == item.due
    }

    /// Removes the items of entries that have left, which are otherwise removed only when something may be sent.
    private mutating func sweepWaiting(in lane: Int, _ priority: ReportPriority) {
        let smallest = 64
        guard lanes[lane].waiting[priority].count > 2 * count + smallest else { return }
        let items = lanes[lane].waiting[priority].takeAll()
        for item in items where isValid(item) { lanes[lane].waiting[priority].insert(item) }
    }

    mutating func withLane<Result>(of destination: UInt32, _ body: (inout OutboxLane) -> Result) -> Result {
        let lane = lane(destination)
        return body(&lanes[lane])
    }

    private mutating func countLoad(_ count: Int, _ bytes: Int64, of priority: ReportPriority) {
        loads[priority.rank].count += count
        loads[priority.rank].bytes = loads[priority.rank].bytes.addingClamped(bytes)
    }

    /// The number and total size of the reports with a higher priority.
    func load(above priority: ReportPriority) -> (count: Int, bytes: Int64) {
        loads[(priority.rank + 1)...].reduce((0, 0)) { ($0.0 + $1.count, $0.1.addingClamped($1.bytes)) }
    }

    /// The oldest waiting entry with the lowest priority, up to a maximum priority and except for one entry.
    func firstToGo(except handle: OutboxHandle, upTo priority: ReportPriority) -> OutboxHandle? {
        for candidate in ReportPriority.all where candidate <= priority && loads[candidate.rank].count > 0 {
            let oldest = byAge[firstByAge...].first { other in
                other != handle && self[other].map { $0.phase == .waiting && $0.name.priority == candidate } == true
            }
            if let oldest { return oldest }
        }
        return nil
    }
}

struct OutboxEntry: Sendable {
    enum Phase: Sendable {
        /// The file is being written, and the submission has not returned.
        case writing
        /// The app is being asked about the report.
        case held
        /// The report waits until it is due, or for a free slot.
        case waiting
        case sending
        /// The report leaves the outbox, and its file is being removed or moved.
        case leaving
    }

    /// The name of the file, which holds the state for the next launch.
    var name: RecordName
    var phase: Phase
    /// The start of the report's age, in the outbox's time; it may lie before the opening of the outbox.
    var born: TimerInstant
    /// The time from which the report can be sent, in the outbox's time.
    var due: TimerInstant
    /// The reason why the report has to become a dead letter, if moving its file failed.
    var deadLetterLoss: ReportLoss?
    /// Whether the app requested an attempt before the report was due.
    var isHurried = false
    /// Whether consent was denied while the report could not leave at once, so that it leaves later, whatever the consent is then.
    var isUnwanted = false
    /// Whether an earlier launch submitted the report.
    var wasFound = false
    /// The number of consecutive attempts whose bytes could not be read.
    var readFailures = 0
    /// The number of started attempts that are not part of the file name yet.
    var unwrittenAttempts: UInt32 = 0

    /// The number of started attempts that count.
    var attempts: UInt32 { name.attempts.addingClamped(unwrittenAttempts) }
}

/// The position of an entry; invalid once the entry is removed.
struct OutboxHandle: Hashable, Sendable {
    let slot: Int
    let sequence: UInt64
}
