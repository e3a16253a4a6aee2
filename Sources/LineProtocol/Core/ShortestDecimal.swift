/// The shortest decimal that reads back as the same double, and the nearest of several: `digits` · 10^`exponent`.
///
/// Every decimal inside a double's rounding interval reads back as that double. The interval's ends and the value itself are
/// scaled by the same power of ten, so that the width of the interval is at least 1 and less than 10. The result is the multiple
/// of ten in the interval, or otherwise a neighbor of the value. This is the method of Raffaello Giulietti ("The Schubfach way to
/// render doubles"), which needs 128 bits of the power and no loop.
struct ShortestDecimal: Equatable {
    var digits: UInt64
    var exponent: Int

    /// The decimal of a finite double above zero, from the fields of its bit pattern.
    @inline(__always)
    init(significand: UInt64, exponent biased: Int) {
        let isNormal = biased != 0
        let c = isNormal ? significand | 1 << 52 : significand
        let q = (isNormal ? biased : 1) - 1075

        // The gap below a power of two is half as wide as the one above it.
        let isLopsided = significand == 0 && biased > 1
        let isOdd = c & 1
        let k = (q * 1_262_611 - (isLopsided ? 524_031 : 0)) >> 22
        let shift = UInt64(truncatingIfNeeded: q + ((-k * 1_741_647) >> 19) + 1)
        let power = Self.powers[292 - k]
        let lower = Self.scaled(power, (4 &* c &- 2 &+ (isLopsided ? 1 : 0)) &<< shift) &+ isOdd
        let value = Self.scaled(power, (4 &* c) &<< shift)
        let upper = Self.scaled(power, (4 &* c &+ 2) &<< shift) &- isOdd

        let s = value >> 2
        if s >= 10 {
            let tens = s / 10
            let fitsBelow = lower <= 40 &* tens
            let fitsAbove = 40 &* tens &+ 40 <= upper
            if fitsBelow != fitsAbove {
                digits = tens &+ (fitsAbove ? 1 : 0)
                exponent = k + 1
                return
            }
        }
        let fitsBelow = lower <= 4 &* s
        let fitsAbove = 4 &* s &+ 4 <= upper
        let middle = 4 &* s &+ 2
        let isNearerAbove = value > middle || (value == middle && s & 1 == 1)
        digits = s &+ ((fitsBelow != fitsAbove ? fitsAbove : isNearerAbove) ? 1 : 0)
        exponent = k
    }

    /// The leading 64 bits of the product; the last bit is also set if any of the lower bits is.
    @inline(__always)
    private static func scaled(_ power: UInt128, _ factor: UInt64) -> UInt64 {
        let carry = UInt64(truncatingIfNeeded: power).multipliedFullWidth(by: factor).high
        let product = UInt128(factor) &* (power >> 64) &+ UInt128(carry)
        return UInt64(truncatingIfNeeded: product >> 64) | (UInt64(truncatingIfNeeded: product) > 1 ? 1 : 0)
    }

    /// The powers of ten from 10⁻²⁹² to 10³²⁴, each as its leading 128 bits, rounded up.
    ///
    /// They are computed once instead of being listed, in 256 bits, so that rounding errors in the lowest bits never reach the
    /// leading 128.
    private static let powers: [UInt128] = {
        let one: (high: UInt128, low: UInt128) = (1 << 127, 0)
        var number = one
        let below = (1...292).map { _ in
            // A fifth has the same leading bits as a tenth. No power of five divides a power of two, so there is always a
            // remainder.
            let (fifth, rest) = number.high.quotientAndRemainder(dividingBy: 5)
            let lower = (5 as UInt128).dividingFullWidth((rest, number.low)).quotient
            let shift = fifth.leadingZeroBitCount
            number = (fifth << shift | lower >> (128 - shift), lower << shift)
            return number.high + 1
        }
        number = one
        let above = (0...324).map { _ in
            let power = number.low == 0 ? number.high : number.high + 1
            // Ten times a number is eight times the number plus a quarter of that.
            let (low, carry) = number.low.addingReportingOverflow(number.low >> 2 | number.high << 126)
            let (high, overflow) = number.high.addingReportingOverflow(number.high >> 2 + (carry ? 1 : 0))
            number = overflow ? (1 << 127 | high >> 1, high << 127 | low >> 1) : (high, low)
            return power
        }
        return below.reversed() + above
    }()
}
