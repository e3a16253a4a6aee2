import LoaderChain

/// Divides a period into time slots, never more than a chart can show.
///
/// Each width is a multiple of the one before, so that slots can be merged when the period grows, in whatever order the
/// samples arrive.
struct TimeSlots: Sendable {
    /// The maximum number of slots.
    static let limit = 120
    private static let widths: [Int64] = [1, 5, 10, 30, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800]

    /// The width of a slot in seconds.
    private(set) var width: Int64 = 1
    /// The first and the last slot, counted from 1970; nil before the first sample.
    private(set) var range: ClosedRange<Int64>?

    init() {}

    func slot(of second: Int64) -> Int64 { Self.divide(second, by: width) }

    /// Makes room for a second, and returns the factor to divide all slot numbers by; 1 for no change.
    mutating func include(_ second: Int64) -> Int64 {
        let slot = slot(of: second)
        guard let before = range else {
            range = slot...slot
            return 1
        }
        range = min(before.lowerBound, slot)...max(before.upperBound, slot)
        var factor: Int64 = 1
        while let range, range.upperBound - range.lowerBound >= Self.limit {
            let step = Self.factor(after: width)
            width *= step
            factor *= step
            self.range = Self.divide(range.lowerBound, by: step)...Self.divide(range.upperBound, by: step)
        }
        return factor
    }

    /// The ratio of the next width to this one.
    private static func factor(after width: Int64) -> Int64 {
        guard let next = widths.first(where: { $0 > width }) else { return 2 }
        return next / width
    }

    /// Divides and rounds down, also for times before 1970.
    static func divide(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
