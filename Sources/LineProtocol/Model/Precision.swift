/// The unit in which the times of lines are counted; a server must be told the same one.
public enum Precision: String, Sendable, Hashable, Codable, CaseIterable {
    /// Billionths of a second, what servers expect if nothing else is said.
    case nanoseconds
    /// Millionths of a second.
    case microseconds
    /// Thousandths of a second.
    case milliseconds
    /// Seconds.
    case seconds

    /// How many nanoseconds one unit has.
    public var nanosecondsPerUnit: Int64 {
        switch self {
        case .nanoseconds: 1
        case .microseconds: 1_000
        case .milliseconds: 1_000_000
        case .seconds: 1_000_000_000
        }
    }
}
