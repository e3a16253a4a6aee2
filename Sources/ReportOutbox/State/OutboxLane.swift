import LoaderChain

/// The queue of one server, and whether the server may be used.
struct OutboxLane {
    var waiting = WaitingReports()
    var inFlight = 0
    /// The end of the server's pause, in the outbox's time.
    var pausedUntil = TimerInstant.distantPast
    /// The number of consecutive attempts that did not reach the server.
    var misses = 0

    /// The kinds of reports that the server rejects for some time.
    var limits = KindLimits()

    /// The identical rejections since the server last accepted a report.
    private var refusals: (loss: ReportLoss, count: Int)?
    /// The number of consecutive pauses because of rejections.
    private var refusalPauses = 0

    /// Whether the server has rejected so many reports that it is probed with one report at a time.
    var isProbed: Bool { refusalPauses > 0 }

    /// The number of consecutive attempts that the server answered.
    private var answers = 0

    /// The number of further attempts that may start now.
    ///
    /// A server that was not reached, or that rejects everything, gets one attempt at a time. Any other server gets one more slot
    /// with each answer, but never the last slot, so that a server that hangs does not block the others.
    func freeSlots(_ most: Int) -> Int {
        min(misses > 0 || isProbed ? 1 : answers + 1, most > 1 ? most - 1 : most) - inFlight
    }

    /// Notes whether the server answered an attempt, with any response.
    mutating func noteAnswer(_ isOne: Bool) { answers = isOne ? min(answers, .max - 1) + 1 : 0 }

    mutating func accept() {
        misses = 0
        refusals = nil
        refusalPauses = 0
    }

    /// Notes that the server rejected a report, and returns whether the fault is likely the server's.
    mutating func refuse(_ loss: ReportLoss, limit: Int) -> Bool {
        misses = 0
        // Another reason for a rejection does not end the probing; only an accepted report does.
        if isProbed { return true }
        let count = refusals.map { $0.loss == loss ? $0.count + 1 : 1 } ?? 1
        refusals = (loss, count)
        return count >= limit
    }

    /// Pauses the server because of its rejections, unless it is paused already, as after another attempt that was under way.
    mutating func pauseForRefusals(now: TimerInstant, delay: (_ pauses: Int) -> Duration) {
        guard pausedUntil <= now else { return }
        refusalPauses += 1
        pausedUntil = now.advanced(by: delay(refusalPauses))
    }
}

extension TimerInstant {
    /// A time before any other time of an outbox.
    static let distantPast = TimerInstant(nanoseconds: .min)
}

/// The waiting entries, ordered by due time and then by age; an entry that leaves for another reason stays in the heap, so the owner
/// checks whether an item is still valid.
struct DueHeap {
    struct Item {
        let due: TimerInstant
        let handle: OutboxHandle

        func precedes(_ other: Item) -> Bool {
            due != other.due ? due < other.due : handle.sequence < other.handle.sequence
        }
    }

    private var items: [Item] = []

    var first: Item? { items.first }
    var count: Int { items.count }

    mutating func insert(_ item: Item) {
        items.append(item)
        var position = items.count - 1
        while position > 0 {
            let parent = (position - 1) / 2
            guard items[position].precedes(items[parent]) else { return }
            items.swapAt(position, parent)
            position = parent
        }
    }

    mutating func removeFirst() {
        guard let last = items.popLast(), !items.isEmpty else { return }
        items[0] = last
        var position = 0
        while true {
            var child = 2 * position + 1
            guard child < items.count else { return }
            if child + 1 < items.count, items[child + 1].precedes(items[child]) { child += 1 }
            guard items[child].precedes(items[position]) else { return }
            items.swapAt(position, child)
            position = child
        }
    }

    mutating func removeAll() { items = [] }

    mutating func takeAll() -> [Item] { replace(&items, with: []) }
}

/// The waiting entries of a lane: a heap for each priority.
struct WaitingReports {
    private var heaps = ReportPriority.all.map { _ in DueHeap() }

    subscript(priority: ReportPriority) -> DueHeap {
        get { heaps[priority.rank] }
        _modify { yield &heaps[priority.rank] }
    }

    mutating func removeAll() {
        for rank in heaps.indices { heaps[rank].removeAll() }
    }
}

/// The kinds that a server has limited, with the ends of the limits in the outbox's time.
struct KindLimits {
    private var ends: [ReportKind: TimerInstant] = [:]

    /// The maximum number of limited kinds; limits of further kinds are ignored.
    static let most = ServerLimits.mostKinds

    /// Adds a limit, and removes those that have ended.
    mutating func limit(_ kind: ReportKind, until end: TimerInstant, now: TimerInstant) {
        ends = ends.filter { $0.value > now }
        guard ends[kind] != nil || ends.count < Self.most else { return }
        ends[kind] = max(ends[kind] ?? end, end)
    }

    func end(of kind: ReportKind) -> TimerInstant? { ends.isEmpty ? nil : ends[kind] }
}

/// The rate limits in a response, for all reports or for some kinds.
///
///     60:transaction:key, 2700:error;session:organization
///
/// Each part consists of the seconds and the kinds; no kinds stand for all of them. The fields after that are ignored.
struct ServerLimits: Equatable {
    /// The limit for all reports; zero if there is none.
    var all = Duration.zero
    var kinds: [ReportKind: Duration] = [:]

    /// The maximum number of bytes that are read of a header.
    private static let mostBytes = 8_192
    fileprivate static let mostKinds = 64
    /// The limit that replaces an unreadable number of seconds.
    private static let standard = Duration.seconds(60)

    /// Reads the limits of a response; nil if it has none.
    init?(_ response: HTTPResponse?, header: String?, maximum: Duration) {
        guard let header, let values = response?.headers.values(for: header), !values.isEmpty else { return nil }
        for part in values.joined(separator: ",").utf8.prefix(Self.mostBytes).split(separator: UInt8(ascii: ",")) {
            let fields = part.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self).filter { $0 != " " } }
            let seconds = Int64(fields[0]).map { Duration.seconds(min(max(0, $0), Int64(Int32.max))) }
            let delay = min(seconds ?? Self.standard, maximum)
            let names = fields.count > 1 ? fields[1].split(separator: ";") : []
            if names.isEmpty { all = max(all, delay) }
            for name in names {
                let kind = ReportKind(String(name))
                guard kinds[kind] != nil || kinds.count < Self.mostKinds else { continue }
                kinds[kind] = max(kinds[kind] ?? .zero, delay)
            }
        }
    }
}
