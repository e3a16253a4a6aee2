/// A point in time, in nanoseconds since the beginning of 1970 in UTC.
///
/// ```swift
/// let release: Timestamp = .seconds(1_700_000_000)
/// let later = Timestamp(.seconds(1_700_000_000) + .milliseconds(250))
/// ```
///
/// Every initializer accepts every number, and clamps values out of range. Servers cannot store the clamped values, so the encoder
/// counts them as ``LineProblem/timeOutOfRange``.
public struct Timestamp: Sendable, Hashable {
    /// The nanoseconds since the beginning of 1970; negative for earlier times.
    public var nanoseconds: Int64

    /// Creates a timestamp from nanoseconds since 1970.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a timestamp from the duration since 1970, rounded down to a nanosecond.
    public init(_ sinceEpoch: Duration) {
        let (whole, rest) = sinceEpoch.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        nanoseconds = Int64(clamping: rest < 0 ? whole - 1 : whole)
    }

    /// Creates a timestamp from a number of units of `precision` since 1970.
    @inlinable
    public init(_ count: Int64, _ precision: Precision) {
        let (product, overflow) = count.multipliedReportingOverflow(by: precision.nanosecondsPerUnit)
        nanoseconds = overflow ? (count < 0 ? .min : .max) : product
    }

    /// The number of whole units of `precision` since the beginning of 1970, rounded down.
    ///
    /// Times in the first unit that servers can store only in part are rounded up.
    public func count(in precision: Precision) -> Int64 {
        switch precision {
        // The compiler replaces each division by a constant with a multiplication.
        case .nanoseconds: nanoseconds
        case .microseconds: units(of: 1_000)
        case .milliseconds: units(of: 1_000_000)
        case .seconds: units(of: 1_000_000_000)
        }
    }

    @inline(__always)
    private func units(of unit: Int64) -> Int64 {
        let quotient = nanoseconds / unit
        let isBehind = quotient &* unit > nanoseconds
        return isBehind && quotient > Self.earliest.nanoseconds / unit ? quotient - 1 : quotient
    }
}

extension Timestamp {
    /// The earliest time that servers can store, in the year 1677.
    public static let earliest = Timestamp(nanoseconds: .min + 2)

    /// The latest time that servers can store, in the year 2262.
    public static let latest = Timestamp(nanoseconds: .max - 1)

    /// A timestamp from nanoseconds since the beginning of 1970.
    public static func nanoseconds(_ count: Int64) -> Timestamp { Timestamp(nanoseconds: count) }

    /// A timestamp from microseconds since the beginning of 1970.
    public static func microseconds(_ count: Int64) -> Timestamp { Timestamp(count, .microseconds) }

    /// A timestamp from milliseconds since the beginning of 1970.
    @inlinable
    public static func milliseconds(_ count: Int64) -> Timestamp { Timestamp(count, .milliseconds) }

    /// A timestamp from seconds since the beginning of 1970.
    public static func seconds(_ count: Int64) -> Timestamp { Timestamp(count, .seconds) }
}

extension Timestamp: Comparable {
    /// Whether a timestamp is earlier than another.
    public static func < (first: Timestamp, second: Timestamp) -> Bool { first.nanoseconds < second.nanoseconds }
}

extension Timestamp: CustomStringConvertible {
    /// The nanoseconds.
    public var description: String { String(nanoseconds) }
}

/// The unit of timestamps, which the server must know.
public enum Precision: String, Sendable, Hashable, CaseIterable {
    /// Nanoseconds, the default of servers.
    case nanoseconds
    /// Millionths of a second.
    case microseconds
    /// Thousandths of a second.
    case milliseconds
    /// Seconds.
    case seconds

    /// The number of nanoseconds in a unit.
    public var nanosecondsPerUnit: Int64 {
        switch self {
        case .nanoseconds: 1
        case .microseconds: 1_000
        case .milliseconds: 1_000_000
        case .seconds: 1_000_000_000
        }
    }
}
