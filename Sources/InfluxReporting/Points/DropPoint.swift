// Points: measured requests and dropped points as points. It may use Results.

import LineProtocol

/// How many points were dropped for a reason, as it is told to the server.
struct DropReport: Hashable {
    let reason: DropReason
    let count: Int
    let time: Timestamp
}

/// The points in which a writer reports what it dropped.
enum DropPoint {
    static let measurement = "InfluxWriter"

    static func make(_ reason: DropReason, count: Int, at timestamp: Timestamp) -> Point {
        Point(
            measurement, tags: ["reason": reason.rawValue], fields: ["dropped": .integer(Int64(count))],
            timestamp: timestamp)
    }
}
