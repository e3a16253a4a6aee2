// Points: measured requests and dropped points as points. It may use Results.

import LineProtocol

/// The points in which a writer reports what it dropped.
enum DropPoint {
    static let measurement = "InfluxWriter"

    static func make(_ reason: DropReason, count: Int, at timestamp: Timestamp) -> Point {
        Point(
            measurement, tags: ["reason": reason.rawValue], fields: ["dropped": .integer(Int64(count))],
            timestamp: timestamp)
    }
}
