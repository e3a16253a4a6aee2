import LoaderChain

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
