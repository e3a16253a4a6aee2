import LoaderChain

/// What a stretch of time is divided into, so that there are never more parts than a picture can show.
///
/// Each width is a multiple of the one before, so that parts can be put together as time goes on, in whatever order the
/// moments come.
struct TimeSlots: Sendable {
    /// The most parts that there are.
    static let limit = 120
    private static let widths: [Int64] = [1, 5, 10, 30, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800]

    /// How many seconds a part has.
    private(set) var width: Int64 = 1
    /// The first part and the last, counted from 1970; nil before the first moment.
    private(set) var range: ClosedRange<Int64>?

    init() {}

    /// The part that a second belongs to.
    func slot(of second: Int64) -> Int64 { Self.divide(second, by: width) }

    /// Makes room for a second, and answers by which number all parts so far are to be divided; 1 for none.
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

    /// How many of a width make the next one.
    private static func factor(after width: Int64) -> Int64 {
        guard let next = widths.first(where: { $0 > width }) else { return 2 }
        return next / width
    }

    /// Divides towards the past, also what was before 1970.
    static func divide(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
