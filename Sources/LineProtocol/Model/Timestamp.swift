/// A moment, counted in nanoseconds since the beginning of 1970 in UTC.
///
/// ```swift
/// let release: Timestamp = .seconds(1_700_000_000)
/// let later = Timestamp(.seconds(1_700_000_000) + .milliseconds(250))
/// ```
///
/// Every initializer takes every number. What lies beyond the range becomes the nearest number of nanoseconds; servers
/// cannot store that either, so the encoder counts it as ``LineProblem/timeOutOfRange``.
public struct Timestamp: Sendable, Hashable, Codable {
    /// Nanoseconds since the beginning of 1970, below zero for what was before.
    public var nanoseconds: Int64

    /// Makes a timestamp from nanoseconds since 1970.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Makes a timestamp from the time since 1970, rounded down to a nanosecond.
    public init(_ sinceEpoch: Duration) {
        let (whole, rest) = sinceEpoch.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        nanoseconds = Int64(clamping: rest < 0 ? whole - 1 : whole)
    }

    /// Makes a timestamp from a count of units of `precision` since 1970.
    @inlinable
    public init(_ count: Int64, _ precision: Precision) {
        let (product, overflow) = count.multipliedReportingOverflow(by: precision.nanosecondsPerUnit)
        nanoseconds = overflow ? (count < 0 ? .min : .max) : product
    }

    /// The number of whole units of `precision` since the beginning of 1970, rounded towards the past.
    ///
    /// The earliest moments round towards the future, as their unit begins before what servers can store.
    public func count(in precision: Precision) -> Int64 {
        switch precision {
        // Each division by a constant is a multiplication.
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
    /// The first moment that servers can store, in the year 1677.
    public static let earliest = Timestamp(nanoseconds: .min + 2)

    /// The last moment that servers can store, in the year 2262.
    public static let latest = Timestamp(nanoseconds: .max - 1)

    /// Nanoseconds since the beginning of 1970.
    public static func nanoseconds(_ count: Int64) -> Timestamp { Timestamp(nanoseconds: count) }

    /// Microseconds since the beginning of 1970.
    public static func microseconds(_ count: Int64) -> Timestamp { Timestamp(count, .microseconds) }

    /// Milliseconds since the beginning of 1970.
    @inlinable
    public static func milliseconds(_ count: Int64) -> Timestamp { Timestamp(count, .milliseconds) }

    /// Seconds since the beginning of 1970.
    public static func seconds(_ count: Int64) -> Timestamp { Timestamp(count, .seconds) }
}

extension Timestamp: Comparable {
    /// Whether a moment was before another.
    public static func < (first: Timestamp, second: Timestamp) -> Bool { first.nanoseconds < second.nanoseconds }
}

extension Timestamp: CustomStringConvertible {
    /// The nanoseconds.
    public var description: String { String(nanoseconds) }
}

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
