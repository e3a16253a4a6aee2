import LineProtocol
import LoaderChain

// Points: measured requests and drops as points, and what a writer reports about points: results, statistics, events. It may use
// Sending.

/// The reason why a point was lost before a server received it.
public enum DropReason: String, Sendable, Hashable, CaseIterable, Codable {
    /// The writer held the maximum that its settings allow.
    case bufferFull = "buffer-full"
    /// The line exceeds the maximum size of a batch, or the maximum that the writer can hold.
    case tooLarge = "too-large"
    /// No part of the point can be encoded; for example, it has no field.
    case notEncodable = "not-encodable"
    /// The disk failed or is full, and memory is full too; or the file that held the point could not be read.
    case disk
    /// The point was written after the writer was shut down.
    case shutDown = "shut-down"
    /// The writer was shut down while it held the point in memory.
    case unsent
    /// The file that held the point was damaged.
    case damaged
}

extension DropReason: CustomStringConvertible {
    /// The raw value, which points about drops have as their tag `reason`.
    public var description: String { rawValue }
}

/// The number of points dropped for a reason, as it is reported to the server.
struct DropReport: Hashable {
    let reason: DropReason
    let count: Int
    let time: Timestamp

    var point: Point {
        Point(
            "InfluxWriter", tags: ["reason": reason.rawValue], fields: ["dropped": .integer(Int64(count))],
            timestamp: time)
    }
}

/// Counts drops, so that a burst of them becomes one event for each reason.
struct DropAnnouncements {
    /// The least time between two events about drops.
    static let interval = Duration.seconds(1)

    private var counts: [DropReason: Int] = [:]
    /// The earliest time of the next event.
    private var next: TimerInstant?
    /// Whether a timer is set for that time.
    private var isScheduled = false

    enum Step: Equatable {
        /// There are no drops, or a timer is set already.
        case nothing
        case announce([DropReason: Int])
        /// Call again at that time.
        case wait(until: TimerInstant)
    }

    var isEmpty: Bool { counts.isEmpty }

    mutating func add(_ count: Int, _ reason: DropReason) { counts[reason, default: 0] += count }

    /// Decides what to do about the drops so far; if `atOnce`, to announce all of them even if the last event is recent.
    mutating func announce(at now: TimerInstant, atOnce: Bool) -> Step {
        if let next, next <= now { isScheduled = false }
        guard !counts.isEmpty else { return .nothing }
        if let next, now < next, !atOnce {
            return replace(&isScheduled, with: true) ? .nothing : .wait(until: next)
        }
        next = now.advanced(by: Self.interval)
        isScheduled = false
        return .announce(replace(&counts, with: [:]))
    }
}
