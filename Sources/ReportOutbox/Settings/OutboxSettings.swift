// Settings: the configuration of an outbox, what the app may provide for it, and the meaning of each attempt's result. It may use
// Reports.

import LoaderChain

/// The capacity of an outbox, the retention of its reports, and how it sends them.
public struct OutboxSettings: Sendable {
    /// What happens to a report when the outbox is full.
    public enum WhenFull: Hashable, Sendable {
        /// The report is rejected with ``OutboxError/Code/full``; accepted reports stay.
        case refuseNew
        /// The oldest reports that are not being sent are evicted, with ``ReportLoss/noRoom``.
        case dropOldest
    }

    /// When a submitted report is safe.
    public enum Durability: Hashable, Sendable {
        /// The report survives the end of the process, for any reason. A power failure may lose the last few seconds.
        case process
        /// The report survives a power failure as well; every submission waits for the disk.
        case fsync
    }

    /// When a submitted report is safe.
    public var durability = Durability.process

    /// Whether the user consents to sending reports, until ``ReportOutbox/ReportOutbox/setConsent(_:)`` is called.
    ///
    /// An outbox does not store the answer between launches; the app stores it with its other settings.
    public var consent = ReportConsent.given

    /// The lowest priority that is sent over a metered network; reports of a lower priority wait.
    ///
    /// ```swift
    /// settings.leastPriorityWhenMetered = .high
    /// settings.leastPriorityWhenConstrained = .high
    /// ```
    ///
    /// The outbox uses what ``ReportOutbox/ReportOutbox/setNetwork(isAvailable:conditions:)`` was given. On Apple systems,
    /// `followNetwork()` calls that method, and each attempt also forbids its terminal to use such a network. On a watch, on which
    /// `followNetwork()` does nothing, and on other systems, the app has to call it.
    public var leastPriorityWhenMetered = ReportPriority.low
    /// The lowest priority that is sent while the user wants little data to be used, as in Low Data Mode.
    public var leastPriorityWhenConstrained = ReportPriority.low

    /// What happens to a report when the outbox is full.
    public var whenFull = WhenFull.refuseNew
    /// The maximum number of reports.
    public var maximumCount = 10_000
    /// The maximum total size of the reports, in bytes.
    public var maximumBytes: Int64 = 256 << 20
    /// The maximum size of one report, in bytes.
    public var maximumReportBytes: Int64 = 64 << 20

    /// The maximum number of attempts for one report; afterwards it becomes a dead letter.
    ///
    /// An attempt does not count if it sent nothing or was stopped, if the app requested it before it was due, or if the server
    /// asked all reports to wait.
    public var maximumAttempts = 50
    /// How long a report is retried; the first attempt that fails after this time is the last.
    ///
    /// The report is dropped if a server answered that attempt and did not ask to wait. Otherwise it becomes a dead letter, and so
    /// does a report that could not be read.
    public var maximumAge = Duration.seconds(2 * 24 * 3600)
    /// The timeout of an attempt, except for an attempt that continues without the process, such as a background upload.
    public var attemptTimeout = Duration.seconds(600)
    /// The upper bound of the first delay between attempts.
    ///
    /// The bound doubles with each attempt; the delay is random, between zero and the bound.
    public var firstDelay = Duration.seconds(30)
    /// The maximum of that upper bound.
    public var maximumDelay = Duration.seconds(3600)
    /// The longest wait that a server can request with `Retry-After`; zero ignores the header.
    public var maximumRetryAfter = Duration.seconds(24 * 3600)
    /// The response header with a server's rate limits, for all reports or for some kinds; nil to ignore rate limits.
    ///
    /// It has Sentry's format: `60:error;session:key, 2700::organization` requests 60 seconds without reports of the kinds
    /// `error` and `session`, and 2,700 seconds without any report. If a response has this header, its `Retry-After` is ignored.
    /// No wait is longer than ``maximumRetryAfter``, and the limits are not stored between launches.
    public var limitsHeader: String? = "X-Sentry-Rate-Limits"
    /// The number of identical rejections in a row before a server is paused.
    ///
    /// Reports that it rejects afterwards stay in the queue, with all other reports for that server, until it accepts one again.
    /// One report at a time is tried, after delays as above. The reports that it rejected before are dead letters;
    /// ``ReportOutbox/retry(_:)`` sends them again. With `Int.max`, rejections never pause a server.
    public var refusalsBeforePause = 3
    /// The maximum number of reports that are sent at the same time.
    ///
    /// A single server gets one fewer, so that a server that hangs does not block the others. Several servers that hang can still
    /// take every slot, until ``attemptTimeout``.
    public var maximumInFlight = 5

    /// The maximum number of dead letters; the oldest are removed first.
    ///
    /// The default equals ``maximumCount``, so that nothing is lost if every report of an outbox becomes a dead letter.
    public var maximumDeadLetterCount = 10_000
    /// The maximum total size of the dead letters, in bytes.
    public var maximumDeadLetterBytes: Int64 = 256 << 20

    /// The header with the number of the attempt, starting at 1; nil for none.
    ///
    /// An attempt that does not count has the same number as the next one; see ``maximumAttempts``.
    public var attemptHeader: String? = "Report-Attempt"
    /// The header with the date of submission, as an HTTP date; nil for none.
    ///
    /// The date is that of the device's clock at the time of submission.
    public var submittedHeader: String? = "Report-Submitted"

    /// Compresses the body of each report when it is submitted; nil to store it unchanged.
    ///
    /// With the module `LoaderChainGzip`, and a server that reads gzip:
    ///
    /// ```swift
    /// settings.compression = { GzipBody($0) }
    /// ```
    ///
    /// The compressed body is what is stored, counted and sent, so each report is compressed once for all attempts, before it is
    /// sealed. A body with a `Content-Encoding` is not compressed, nor one whose digest is in a header of the request, nor the
    /// file of a report that ``locations`` keeps. The closure is called on the thread that submits.
    public var compression: (@Sendable (any HTTPBody) -> any HTTPBody)?

    /// The header that reports the server's lost reports with its next attempt; nil for none.
    ///
    /// It lists reason, kind and count, as in `no-room;kind=crash;n=2, expired;kind=default;n=1`, in at most 1,024 bytes; the
    /// rest follows with other attempts. Reports that the app removed are not counted, nor reports without consent. Rejected
    /// submissions are counted as `box-full`, `too-large` and `disk`. The counts are kept until an attempt that carries them is
    /// delivered. They are saved whenever the outbox sends or is closed.
    public var discardedHeader: String? = "Report-Discarded"

    /// The verdict for each result of an attempt.
    public var outcomes = OutcomeTable()
    /// The names of headers and query items that look secret but are not, so that they may be stored.
    public var harmlessNames: Set<String> = []

    /// Encrypts the stored reports; nil to store them unencrypted.
    public var seal: (any ReportSeal)?
    /// Provides the places of files that the app keeps; nil to copy all files into the outbox.
    public var locations: (any ReportLocationProvider)?

    /// The clock and the timers.
    public var timers: any Timers = SystemTimers.shared
    /// The source of random numbers.
    public var random: RandomSource = .system

    /// Creates settings with the default values.
    public init() {}
}

/// The user's consent to sending reports.
public enum ReportConsent: Hashable, Sendable {
    /// Reports are sent.
    case given
    /// The user has not decided yet: reports are accepted and stored, but not sent.
    ///
    /// The limits of number and size apply. No attempt fails, so no report expires.
    case pending
    /// All reports are deleted, and no report is accepted.
    case denied
}

/// The reasons to send little over the current network.
public struct NetworkConditions: OptionSet, Hashable, Sendable {
    /// The conditions as a bit mask.
    public let rawValue: UInt8

    /// Creates a set from a bit mask.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user pays per byte, as on a mobile network or a personal hotspot.
    public static let metered = NetworkConditions(rawValue: 1)
    /// The user wants little data to be used, as in Low Data Mode.
    public static let constrained = NetworkConditions(rawValue: 2)
}

extension OutboxSettings {
    func leastPriority(under conditions: NetworkConditions) -> ReportPriority {
        max(
            conditions.contains(.metered) ? leastPriorityWhenMetered : .low,
            conditions.contains(.constrained) ? leastPriorityWhenConstrained : .low)
    }

    /// The networks that a report may use, for terminals that can distinguish them.
    func networks(for priority: ReportPriority) -> NetworkAccess {
        var access = NetworkAccess.all
        if priority < leastPriorityWhenMetered { access.subtract([.cellular, .expensive]) }
        if priority < leastPriorityWhenConstrained { access.remove(.constrained) }
        return access
    }
}
