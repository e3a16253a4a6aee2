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
