/// The unit of timestamps; the server must be given the same one.
public enum Precision: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nanoseconds, the default of servers.
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
