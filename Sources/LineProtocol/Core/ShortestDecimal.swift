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

/// The powers of ten that the shortest form of a double needs, each as its leading 128 bits, rounded up.
///
/// They are worked out once, with exact arithmetic, instead of being listed.
struct PowersOfTen: Sendable {
    struct Power {
        var high: UInt64
        var low: UInt64
    }

    static let exponents = -292...324
    static let shared = PowersOfTen()

    /// The power whose exponent is `n` lies at index `n - exponents.lowerBound`.
    private let powers: [Power]

    private init() {
        var powers = Array(repeating: Power(high: 0, low: 0), count: Self.exponents.count)
        let zero = -Self.exponents.lowerBound
        // Dividing by ten again and again and rounding down each time gives the same as dividing once by the power, so
        // the leading bits are exact. Something is always left over, because no power of five divides a power of two.
        var number = BigNumber(words: 21)
        number[20] = 1
        for exponent in (Self.exponents.lowerBound...(-1)).reversed() {
            number.divideByTen()
            powers[zero + exponent] = number.leadingBits(roundedUp: true)
        }
        number = BigNumber(words: 18)
        number[0] = 1
        for exponent in 0...Self.exponents.upperBound {
            powers[zero + exponent] = number.leadingBits(roundedUp: false)
            number.multiplyByTen()
        }
        self.powers = powers
    }

    @inline(__always)
    subscript(exponent: Int) -> Power { powers[exponent - Self.exponents.lowerBound] }
}

/// A natural number of a fixed size, least significant word first.
private struct BigNumber {
    private var words: [UInt64]

    init(words count: Int) { words = Array(repeating: 0, count: count) }

    subscript(index: Int) -> UInt64 {
        get { words[index] }
        set { words[index] = newValue }
    }

    mutating func multiplyByTen() {
        var carry: UInt64 = 0
        for index in words.indices {
            let (high, low) = words[index].multipliedFullWidth(by: 10)
            let (sum, overflow) = low.addingReportingOverflow(carry)
            words[index] = sum
            carry = high &+ (overflow ? 1 : 0)
        }
    }

    mutating func divideByTen() {
        var remainder: UInt64 = 0
        for index in words.indices.reversed() {
            let division = (10 as UInt64).dividingFullWidth((remainder, words[index]))
            words[index] = division.quotient
            remainder = division.remainder
        }
    }

    /// The 128 bits from the first one that is set; what follows them rounds them up, or is known to if `roundedUp`.
    func leadingBits(roundedUp: Bool) -> PowersOfTen.Power {
        let top = words.lastIndex { $0 != 0 } ?? 0
        let shift = words[top].leadingZeroBitCount
        func word(_ index: Int) -> UInt64 {
            let upper = index >= 0 ? words[index] : 0
            let lower = index >= 1 ? words[index - 1] : 0
            return shift == 0 ? upper : upper << UInt64(shift) | lower >> UInt64(64 - shift)
        }
        var power = PowersOfTen.Power(high: word(top), low: word(top - 1))
        let rest = word(top - 2) != 0 || words.prefix(max(0, top - 2)).contains { $0 != 0 }
        if roundedUp || rest {
            power.low &+= 1
            if power.low == 0 { power.high &+= 1 }
        }
        return power
    }
}
