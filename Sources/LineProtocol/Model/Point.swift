/// One measurement at one moment: what becomes a line.
///
/// ```swift
/// let point = Point(
///     "APIHealth", tags: ["host": "api-1", "status": "200"], fields: ["duration": 0.25, "bytes": 512],
///     timestamp: .milliseconds(1_700_000_000_000))
/// print(point)  // APIHealth,host=api-1,status=200 duration=0.25,bytes=512i 1700000000000000000
/// ```
///
/// The measurement and the tags are the *series* that the point belongs to; servers index them, so their values should be
/// few. Give every point a timestamp: two points with the same series and time are the same point to a server, which is
/// what makes it safe to send one again.
public struct Point: Sendable, Hashable, Codable {
    /// What is measured, such as the name of a table.
    public var measurement: String
    /// The tags, which tell series apart.
    public var tags: Tags
    /// The fields; there must be at least one.
    public var fields: Fields
    /// The time; without it, the server uses the time of arrival.
    public var timestamp: Timestamp?

    /// Makes a point.
    public init(_ measurement: String, tags: Tags = [:], fields: Fields, timestamp: Timestamp? = nil) {
        self.measurement = measurement
        self.tags = tags
        self.fields = fields
        self.timestamp = timestamp
    }
}
