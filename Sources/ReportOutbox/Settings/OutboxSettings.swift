// Settings: how a box goes about its work, what the app may provide for it, and what each result of an attempt means. It may use
// Reports.

import LoaderChain

/// How much a box holds, for how long, and how it sends.
public struct OutboxSettings: Sendable {
    /// What happens to a report when the box is full.
    public enum WhenFull: Hashable, Sendable {
        /// It is refused with ``OutboxError/Code/boxFull``; what was accepted stays.
        case refuseNew
        /// The oldest that are not being sent make room, and are dropped with ``ReportLoss/noRoom``.
        case dropOldest
    }

    /// When a submitted report is safe.
    public enum Durability: Hashable, Sendable {
        /// It survives the end of the process, however that comes. A loss of power may cost the last few seconds.
        case process
        /// It survives a loss of power as well; every submission waits for the disk.
        case fsync
    }

    /// What happens when a second box opens a directory that is in use.
    public enum WhenInUse: Hashable, Sendable {
        /// Opening it fails with ``OutboxError/Code/inUse``.
        case fail
        /// It gets a box of its own within the directory, whose reports the main one takes over when its owner has ended.
        case ownBox
    }

    /// When a submitted report is safe.
    public var durability = Durability.process
    /// What happens when a second box opens the same directory.
    public var whenInUse = WhenInUse.fail

    /// Whether the user lets reports be sent, as long as ``ReportOutbox/ReportOutbox/setConsent(_:)`` says nothing else.
    ///
    /// A box does not keep the answer from launch to launch: the app does, with its other settings.
    public var consent = ReportConsent.given

    /// The least priority of the reports that are sent while the network is metered; the others wait.
    ///
    /// ```swift
    /// settings.leastPriorityWhenMetered = .high
    /// settings.leastPriorityWhenConstrained = .high
    /// ```
    ///
    /// The box goes by what it is told by ``ReportOutbox/ReportOutbox/networkIsAvailable(_:conditions:)``; on Apple systems, `followNetwork()`
    /// tells it, and the attempt also forbids its terminal to use such a network. On other systems nothing can tell networks apart but the
    /// app.
    public var leastPriorityWhenMetered = ReportPriority.low
    /// The least priority of the reports that are sent while the user wants little to be sent, as in Low Data Mode.
    public var leastPriorityWhenConstrained = ReportPriority.low

    /// What happens to a report when the box is full.
    public var whenFull = WhenFull.refuseNew
    /// The most reports a box holds.
    public var maximumCount = 10_000
    /// The most bytes its reports have in all.
    public var maximumBytes: Int64 = 256 << 20
    /// The most bytes one report has.
    public var maximumReportBytes: Int64 = 64 << 20

    /// The most attempts for one report; after them it is set aside.
    ///
    /// An attempt costs nothing, and does not count, if it sent nothing or was stopped, if the app asked for it before
    /// its time, or if the server asked for a wait that holds for all reports.
    public var maximumAttempts = 50
    /// How long a report is tried; the first attempt that fails after that is the last.
    ///
    /// The report is dropped if a server answered that attempt and did not ask for a wait; otherwise it is set aside,
    /// and so is one that could not be read.
    public var maximumAge = Duration.seconds(2 * 24 * 3600)
    /// How long an attempt may take before it is cancelled, unless it goes on without the process, as a background upload does.
    public var attemptTimeout = Duration.seconds(600)
    /// The bound of the first delay between attempts.
    ///
    /// It doubles with each; the delay is any up to the bound.
    public var firstDelay = Duration.seconds(30)
    /// What the bound of a delay never grows beyond.
    public var maximumDelay = Duration.seconds(3600)
    /// The longest wait that a server can ask for by `Retry-After`; with zero, it can ask for none.
    public var maximumRetryAfter = Duration.seconds(24 * 3600)
    /// The response header in which a server says for how long it wants no reports, or none of some kinds; nil to read none.
    ///
    /// Its form is that of Sentry: `60:error;session:key, 2700::organization` asks for 60 seconds without reports of the kinds `error` and
    /// `session`, and for 2,700 without any. It is read in every response, of which it then replaces `Retry-After`. No wait is longer than
    /// ``maximumRetryAfter``, and none outlasts the process.
    public var limitsHeader: String? = "X-Sentry-Rate-Limits"
    /// How many equal refusals in a row, as of an address that is wrong, pause a server.
    ///
    /// What it refuses from then on waits, with everything else that goes there, until it takes a report again; one is tried
    /// at a time, after delays as above. What it refused before has been set aside, and ``ReportOutbox/retry(_:)`` sends it again. `Int.max` takes every refusal for the report's own fault.
    public var refusalsBeforePause = 3
    /// How many reports are sent at once.
    ///
    /// To one server it is one fewer, so that one which hangs does not keep the others from being asked. Several that
    /// hang can still take every place, until ``attemptTimeout``.
    public var maximumInFlight = 5

    /// The most reports that are kept for inspection after they were set aside; the oldest go first.
    ///
    /// It is as many as a box holds, so that a box that is set aside as a whole loses nothing.
    public var maximumSetAsideCount = 10_000
    /// The most bytes that are kept for inspection.
    public var maximumSetAsideBytes: Int64 = 256 << 20

    /// The header that says which attempt at the report it is, from 1; nil for none.
    ///
    /// An attempt that costs nothing has the number that the next one has too; see ``maximumAttempts``.
    public var attemptHeader: String? = "Report-Attempt"
    /// The header that says when the report was submitted, as a date of HTTP; nil for none.
    ///
    /// It is the date of the device's clock at that time.
    public var submittedHeader: String? = "Report-Submitted"

    /// Compresses the body of each report when it is taken in; nil to keep it as it is.
    ///
    /// With the module `LoaderChainGzip`, and a server that reads gzip:
    ///
    /// ```swift
    /// settings.compression = { GzipBody($0) }
    /// ```
    ///
    /// What is written down, counted and sent is the compressed body, so that it is compressed once for all attempts, and before it is
    /// sealed. A body with a `Content-Encoding` stays as it is, and so does one whose digest the request has in a header; so does the
    /// file of a report that ``locations`` keeps. The closure is called on the thread that submits.
    public var compression: (@Sendable (any HTTPBody) -> any HTTPBody)?

    /// The header that tells a server which of its reports never arrived, with the next attempt there; nil for none.
    ///
    /// It says why, of which kind and how many, as in `no-room;kind=crash;n=2, expired;kind=default;n=1`, in at most 1,024 bytes; the rest
    /// follows with other attempts. What the app removed itself is not counted, nor is anything without consent. Submissions that were
    /// refused are counted as `box-full`, `too-large` and `disk`. The counts are kept until an attempt with them is delivered. They are
    /// written down whenever the box sends or is closed.
    public var discardedHeader: String? = "Report-Discarded"

    /// What each result of an attempt means.
    public var outcomes = OutcomeTable()
    /// Names of headers and query items that sound like secrets and are not, so that they may be written down.
    public var harmlessNames: Set<String> = []

    /// Encrypts what is written down; nil to write it as it is.
    public var seal: (any ReportSeal)?
    /// Keeps files of reports where the app wants them; nil to copy them into the box.
    public var locations: (any ReportLocationProvider)?

    /// Where time comes from.
    public var timers: any Timers = SystemTimers.shared
    /// Where chance comes from.
    public var random: RandomSource = .system

    /// Settings with the values above, each of which can be set.
    public init() {}
}

/// Whether the user lets reports be sent.
public enum ReportConsent: Hashable, Sendable {
    /// Reports are sent.
    case given
    /// The user has not been asked yet: reports are taken in and held, and none is sent.
    ///
    /// Bounds of size and number hold meanwhile; no attempt fails, so no report becomes too old.
    case pending
    /// Everything is deleted, and no report is taken in.
    case denied
}

/// What speaks against sending much through the network that there is.
public struct NetworkConditions: OptionSet, Hashable, Sendable {
    /// The conditions, as bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Its bytes cost the user money, as of a mobile network or a personal hotspot.
    public static let metered = NetworkConditions(rawValue: 1)
    /// The user wants little of it to be used, as in Low Data Mode.
    public static let constrained = NetworkConditions(rawValue: 2)
}

extension OutboxSettings {
    /// The least priority of the reports that are sent under some conditions.
    func leastPriority(under conditions: NetworkConditions) -> ReportPriority {
        max(
            conditions.contains(.metered) ? leastPriorityWhenMetered : .low,
            conditions.contains(.constrained) ? leastPriorityWhenConstrained : .low)
    }

    /// The networks that a report may use, for terminals that can tell them apart.
    func networks(for priority: ReportPriority) -> NetworkAccess {
        var access = NetworkAccess.all
        if priority < leastPriorityWhenMetered { access.subtract([.cellular, .expensive]) }
        if priority < leastPriorityWhenConstrained { access.remove(.constrained) }
        return access
    }
}
