/// The shortest decimal that reads back as the same double, and among those the nearest: `digits` · 10^`exponent`.
///
/// Every decimal inside a double's rounding interval reads back as that double. The interval's ends and the value itself are
/// scaled by one power of ten, so that the interval is at least one and less than ten wide, and the multiple of ten in it, or
/// else a neighbour of the value, is the answer. This is the method of Raffaello Giulietti ("The Schubfach way to render
/// doubles"), which needs 128 bits of the power and no loop.
struct ShortestDecimal: Equatable {
    var digits: UInt64
    var exponent: Int

    /// The decimal of a finite double above zero, from the fields of its bit pattern.
    @inline(__always)
    init(significand: UInt64, exponent biased: Int, powers: PowersOfTen) {
        let isNormal = biased != 0
        let c = isNormal ? significand | 1 << 52 : significand
        let q = (isNormal ? biased : 1) - 1075

        // The gap below a power of two is half as wide as the one above it.
        let isLopsided = significand == 0 && biased > 1
        let isOdd = c & 1
        let k = (q * 1_262_611 - (isLopsided ? 524_031 : 0)) >> 22
        let shift = UInt64(truncatingIfNeeded: q + ((-k * 1_741_647) >> 19) + 1)
        let power = powers[-k]
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

    /// The leading 64 bits of the product, where the last bit also stands for anything lost below it.
    @inline(__always)
    private static func scaled(_ power: PowersOfTen.Power, _ factor: UInt64) -> UInt64 {
        let carry = power.low.multipliedFullWidth(by: factor).high
        let product = power.high.multipliedFullWidth(by: factor)
        let (low, overflow) = product.low.addingReportingOverflow(carry)
        return (product.high &+ (overflow ? 1 : 0)) | (low > 1 ? 1 : 0)
    }
}
