import LoaderChain

/// What waits for one server, and whether it may be asked.
struct BoxLane {
    var waiting = WaitingReports()
    var inFlight = 0
    /// Until when nothing is sent there, in the box's time.
    var pausedUntil = TimerInstant.distantPast
    /// How often in a row it was not reached.
    var misses = 0

    /// Which kinds of reports it does not want for a while.
    var limits = KindLimits()

    /// The refusals since it last took a report, as long as all were the same.
    private var refusals: (loss: ReportLoss, count: Int)?
    /// How often in a row it was paused for its refusals.
    private var refusalPauses = 0

    /// Whether it has refused so much that one report at a time finds out if it takes any.
    var isProbed: Bool { refusalPauses > 0 }

    /// How many attempts it has answered since one was not, or since the first.
    private var answers = 0

    /// How many may be sent at once.
    ///
    /// A server that was not reached, or that refuses everything, is tried with one alone. Any other gets one more with each answer,
    /// and never the last place, so that one which hangs does not keep the others from being asked.
    func room(_ most: Int) -> Int {
        min(misses > 0 || isProbed ? 1 : answers + 1, most > 1 ? most - 1 : most) - inFlight
    }

    /// Notes whether it answered an attempt, whatever it said.
    mutating func noteAnswer(_ isOne: Bool) { answers = isOne ? min(answers, .max - 1) + 1 : 0 }

    /// Notes that it took a report.
    mutating func accept() {
        misses = 0
        refusals = nil
        refusalPauses = 0
    }

    /// Notes that it refused a report, and returns whether that says more about the server than about the report.
    mutating func refuse(_ loss: ReportLoss, limit: Int) -> Bool {
        misses = 0
        // Until it takes one, another reason to refuse does not make it a server that can be asked.
        if isProbed { return true }
        let count = refusals.map { $0.loss == loss ? $0.count + 1 : 1 } ?? 1
        refusals = (loss, count)
        return count >= limit
    }

    /// Pauses it for its refusals, unless it is paused already, as by another report that was under way.
    mutating func pauseForRefusals(now: TimerInstant, delay: (_ pauses: Int) -> Duration) {
        guard pausedUntil <= now else { return }
        refusalPauses += 1
        pausedUntil = now.advanced(by: delay(refusalPauses))
    }
}

extension TimerInstant {
    /// Before every moment of a box.
    static let distantPast = TimerInstant(nanoseconds: .min)
}

/// The entries that wait, the one first that is due first; of those due at the same time, the oldest.
///
/// An entry that left for another reason stays behind, so the owner checks whether an item that it takes is still valid.
struct DueHeap {
    struct Item {
        let due: TimerInstant
        let handle: BoxHandle

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
}

/// What waits in a lane: a heap for each priority.
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

/// Until when a server wants no reports of some kinds, in the box's time.
struct KindLimits {
    private var ends: [ReportKind: TimerInstant] = [:]

    /// So many kinds are limited at once; of more, the later ones are not.
    static let most = ServerLimits.mostKinds

    /// Notes a limit, and forgets those that are over.
    mutating func limit(_ kind: ReportKind, until end: TimerInstant, now: TimerInstant) {
        ends = ends.filter { $0.value > now }
        guard ends[kind] != nil || ends.count < Self.most else { return }
        ends[kind] = max(ends[kind] ?? end, end)
    }

    /// Until when reports of a kind wait; nil if they need not.
    func end(of kind: ReportKind) -> TimerInstant? { ends.isEmpty ? nil : ends[kind] }
}

/// What a response says of how long a server wants no reports, or none of some kinds.
///
///     60:transaction:key, 2700:error;session:organization
///
/// Each part has the seconds, then the kinds, of which none stands for all of them; what follows is of no interest here.
struct ServerLimits: Equatable {
    /// How long it wants no reports at all; zero if it takes some.
    var all = Duration.zero
    /// How long it wants none of a kind.
    var kinds: [ReportKind: Duration] = [:]

    /// More is not read of a header.
    private static let mostBytes = 8_192
    fileprivate static let mostKinds = 64
    /// What seconds count as that cannot be read.
    private static let standard = Duration.seconds(60)

    /// The limits of a response; nil if it says nothing of them.
    ///
    /// - Parameter maximum: what no wait is longer than.
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
