import LoaderChain
import LoaderChainPlatformFoundation

/// The properties of a report, apart from its content.
public struct ReportSummary: Hashable, Sendable {
    /// The identifier.
    public let id: ReportID
    /// The date of submission, by the wall clock of that time.
    public let date: Date
    /// The date from which it can be sent.
    public let due: Date
    /// The number of attempts that have started; an attempt that does not count is subtracted once the report waits again.
    public let attempts: Int
    /// The size in bytes.
    public let size: Int64
    /// The priority.
    public let priority: ReportPriority
    /// The kind.
    public let kind: ReportKind
    /// Whether an attempt is under way.
    public let isBeingSent: Bool
    /// The reason why the report is a dead letter, as in ``ReportLoss/name``; nil for a report in the outbox.
    public let deadLetterReason: String?

    init(_ entry: OutboxEntry) {
        self.init(entry.name, attempts: entry.attempts, isBeingSent: entry.phase == .sending)
    }

    init(_ deadLetter: DeadLetterName) { self.init(deadLetter.name, deadLetterReason: deadLetter.reason) }

    init(_ name: RecordName, attempts: UInt32? = nil, isBeingSent: Bool = false, deadLetterReason: String? = nil) {
        id = name.id
        date = name.submitted
        due = name.due
        self.attempts = Int(clamping: attempts ?? name.attempts)
        size = name.size
        priority = name.priority
        kind = name.kind
        self.isBeingSent = isBeingSent
        self.deadLetterReason = deadLetterReason
    }
}

/// A report of an earlier launch, passed to the handler of existing reports before it is sent.
public struct ExistingReport: Sendable {
    /// The identifier.
    public let id: ReportID
    /// The date of submission, by the wall clock of that time.
    public let date: Date
    /// The number of attempts.
    public let attempts: Int
    /// The size in bytes.
    public let size: Int64
    /// The priority.
    public let priority: ReportPriority

    private let load: @Sendable () throws -> HTTPRequest

    init(_ entry: OutboxEntry, load: @escaping @Sendable () throws -> HTTPRequest) {
        id = entry.name.id
        date = entry.name.submitted
        attempts = Int(clamping: entry.name.attempts)
        size = entry.name.size
        priority = entry.name.priority
        self.load = load
    }

    /// The request of the report, read from disk.
    ///
    /// - Throws: ``OutboxError/Code/unreadable`` if the file is damaged or its seal cannot be opened.
    public func request() throws -> HTTPRequest { try load() }

    /// The decision about an existing report.
    public enum Decision: Sendable {
        /// The report is sent unchanged.
        case keep
        /// The report is sent with this request from now on; its attempts stay counted.
        case replace(HTTPRequest)
        /// The report is removed without being sent.
        case drop
    }
}
