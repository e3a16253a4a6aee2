// Settings: how a box goes about its work, and what each result of an attempt means. It may use Reports.

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

    /// What happens to a report when the box is full.
    public var whenFull = WhenFull.refuseNew
    /// The most reports a box holds.
    public var maximumCount = 10_000
    /// The most bytes its reports have in all.
    public var maximumBytes: Int64 = 256 << 20
    /// The most bytes one report has.
    public var maximumReportBytes: Int64 = 64 << 20

    /// The most attempts for one report; after them it is set aside.
    public var maximumAttempts = 50
    /// How long a report is tried; the first attempt that fails after that is the last.
    ///
    /// One that could not even be read until then is set aside, and not dropped.
    public var maximumAge = Duration.seconds(2 * 24 * 3600)
    /// How long an attempt may take before it is cancelled, unless it goes on without the process, as a background upload does.
    public var attemptTimeout = Duration.seconds(600)
    /// The bound of the first delay between attempts.
    ///
    /// It doubles with each; the delay is any up to the bound.
    public var firstDelay = Duration.seconds(30)
    /// What the bound of a delay never grows beyond.
    public var maximumDelay = Duration.seconds(3600)
    /// The longest wait that a server can ask for by `Retry-After`.
    public var maximumRetryAfter = Duration.seconds(24 * 3600)
    /// How many equal refusals in a row, as of an address that is wrong, pause a server.
    ///
    /// What it refuses from then on waits, with everything else that goes there, until it takes a report again; one is tried
    /// at a time, after delays as above. `Int.max` takes every refusal for the report's own fault.
    public var refusalsBeforePause = 3
    /// How many reports are being sent at once.
    public var maximumInFlight = 4

    /// The most reports that are kept for inspection after they were set aside; the oldest go first.
    ///
    /// It is as many as a box holds, so that a box that is set aside as a whole loses nothing.
    public var maximumSetAsideCount = 10_000
    /// The most bytes that are kept for inspection.
    public var maximumSetAsideBytes: Int64 = 256 << 20

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
