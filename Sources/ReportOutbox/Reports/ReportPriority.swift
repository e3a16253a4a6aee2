/// How much a report matters beside others, such as a crash beside a warning.
///
/// Of the reports that are due, the most important is sent first. A box that drops the oldest lets the least important go first,
/// and none for one that matters less.
public struct ReportPriority: Hashable, Comparable, Sendable {
    /// Its place among all, from 0 for the least important.
    let rank: Int

    /// What may come late or go, such as a warning or a usage report.
    public static let low = ReportPriority(rank: 0)
    /// What has no other priority.
    public static let normal = ReportPriority(rank: 1)
    /// What comes first, such as a crash.
    public static let high = ReportPriority(rank: 2)

    /// All of them, the least important first.
    static let all = [low, normal, high]

    /// Whether one matters less than another.
    public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}

extension ReportPriority: CustomStringConvertible {
    /// The name: low, normal or high.
    public var description: String { ["low", "normal", "high"][rank] }
}
