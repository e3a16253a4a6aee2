import LoaderChain
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

/// A report that an earlier launch has left, shown to the handler of existing reports before it is sent.
public struct ExistingReport: Sendable {
    /// Its identifier.
    public let id: ReportID
    /// When it was submitted, by the clock of that time.
    public let date: Date
    /// How many attempts there were.
    public let attempts: Int
    /// How many bytes it has.
    public let size: Int64
    /// How much it matters beside others.
    public let priority: ReportPriority

    private let load: @Sendable () throws -> HTTPRequest

    init(_ entry: BoxEntry, load: @escaping @Sendable () throws -> HTTPRequest) {
        id = entry.name.id
        date = entry.name.submitted
        attempts = Int(clamping: entry.name.attempts)
        size = entry.name.size
        priority = entry.name.priority
        self.load = load
    }

    /// The request it was submitted with, read from the disk.
    ///
    /// - Throws: ``OutboxError/Code/unreadable`` if it is damaged or its seal cannot be opened.
    public func request() throws -> HTTPRequest { try load() }

    /// What to do with an existing report.
    public enum Decision: Sendable {
        /// It is sent as it is.
        case keep
        /// It is sent with this request, from now on; its attempts stay counted.
        case replace(HTTPRequest)
        /// It is not sent, and is removed.
        case drop
    }
}
