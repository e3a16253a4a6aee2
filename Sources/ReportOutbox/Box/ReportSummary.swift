import LoaderChainPlatformFoundation

/// What a box knows about a report without reading it.
public struct ReportSummary: Hashable, Sendable {
    /// Its identifier.
    public let id: ReportID
    /// When it was submitted, by the clock of that time.
    public let date: Date
    /// When it may next be tried.
    public let due: Date
    /// How many attempts have begun; one that cost nothing is taken back once the report waits again.
    public let attempts: Int
    /// How many bytes it has.
    public let size: Int64
    /// How much it matters beside others.
    public let priority: ReportPriority
    /// What it is.
    public let kind: ReportKind
    /// Whether an attempt is under way.
    public let isBeingSent: Bool
    /// Why it was set aside, as ``ReportLoss/name`` has it; nil if it was not.
    public let setAsideBecause: String?

    init(_ entry: BoxEntry) {
        self.init(
            entry.name, attempts: Int(clamping: entry.attempts), isBeingSent: entry.phase == .sending,
            setAsideBecause: nil)
    }

    init(_ aside: AsideName) {
        self.init(
            aside.name, attempts: Int(clamping: aside.name.attempts), isBeingSent: false, setAsideBecause: aside.reason)
    }

    init(_ name: RecordName, attempts: Int, isBeingSent: Bool, setAsideBecause: String?) {
        id = name.id
        date = name.submitted
        due = name.due
        self.attempts = attempts
        size = name.size
        priority = name.priority
        kind = name.kind
        self.isBeingSent = isBeingSent
        self.setAsideBecause = setAsideBecause
    }
}
