import LineProtocol
import LoaderChain

// Points: measured requests and dropped points as points, and what a writer tells of points: results, statistics, events. It may
// use Sending.

/// Why a point was lost before a server saw it.
public enum DropReason: String, Sendable, Hashable, CaseIterable, Codable {
    /// The writer held as much as its settings allow.
    case noRoom = "no-room"
    /// The line is longer than a batch may be, or than all that the writer may hold.
    case tooLarge = "too-large"
    /// The point has nothing that can be encoded, for example no field.
    case notEncodable = "not-encodable"
    /// The disk failed or is full, and memory had no room either; or the file that held the point could not be read.
    case disk
    /// The writer was shut down before the point came.
    case shutDown = "shut-down"
    /// The writer was shut down while it held the point in memory.
    case unsent
    /// The file that held the point was damaged.
    case damaged
}

extension DropReason: CustomStringConvertible {
    /// The word that statistics and points have for it.
    public var description: String { rawValue }
}

/// How many points were dropped for a reason, as it is told to the server.
struct DropReport: Hashable {
    let reason: DropReason
    let count: Int
    let time: Timestamp
}

/// The points in which a writer reports what it dropped.
enum DropPoint {
    private static let measurement = "InfluxWriter"

    static func make(_ reason: DropReason, count: Int, at timestamp: Timestamp) -> Point {
        Point(
            measurement, tags: ["reason": reason.rawValue], fields: ["dropped": .integer(Int64(count))],
            timestamp: timestamp)
    }
}

/// Counts drops, so that a burst of them becomes one event for each reason.
struct DropTelling {
    /// The least time between two events about drops.
    static let interval = Duration.seconds(1)

    private var counts: [DropReason: Int] = [:]
    /// When drops may be told again.
    private var next: TimerInstant?
    /// Whether a timer is set for that moment.
    private var isScheduled = false

    enum Step: Equatable {
        /// There is nothing to tell, or a timer is set already.
        case nothing
        case tell([DropReason: Int])
        /// Ask once more at that moment.
        case wait(until: TimerInstant)
    }

    var isEmpty: Bool { counts.isEmpty }

    mutating func add(_ count: Int, _ reason: DropReason) { counts[reason, default: 0] += count }

    /// Says what to do about the drops so far.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - atOnce: whether to tell all drops, even if little time has passed.
    mutating func tell(at now: TimerInstant, atOnce: Bool) -> Step {
        if let next, next <= now { isScheduled = false }
        guard !counts.isEmpty else { return .nothing }
        if let next, now < next, !atOnce {
            return replace(&isScheduled, with: true) ? .nothing : .wait(until: next)
        }
        next = now.advanced(by: Self.interval)
        isScheduled = false
        return .tell(replace(&counts, with: [:]))
    }
}
