/// Numbers as text, eight digits at a time; every method returns the end of the text, and may write past it.
extension LineBytes {
    private static let zeros: UInt64 = 0x3030_3030_3030_3030
    private static let hundredMillion: UInt64 = 100_000_000

    /// The eight decimal digits of a number below 10⁸, one in each byte, the first in the lowest.
    ///
    /// The number is split into halves of four digits, those into pairs, and the pairs into digits, each time in all lanes at
    /// once; the multiplications replace divisions by 10,000, 100 and 10.
    @inline(__always)
    private static func digits(_ number: UInt64) -> UInt64 {
        let halves = (number &* 109_951_163) >> 40
        let fours = halves | (number &- 10_000 &* halves) << 32
        let hundreds = ((fours &* 5_243) >> 19) & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = ((pairs &* 103) >> 10) & 0x000F_000F_000F_000F
        return tens | (pairs &- 10 &* tens) << 8
    }

    @inline(__always)
    mutating func put(decimal number: UInt64, at place: Int) -> Int {
        if number < Self.hundredMillion { return putLeading(number, at: place) }
        return putLong(number, at: place)
    }

    @inline(__always)
    mutating func put(decimal number: Int64, at place: Int) -> Int {
        put(UInt8(ascii: "-"), at: place)
        return put(decimal: number.magnitude, at: number < 0 ? place &+ 1 : place)
    }

    /// Puts a number below 10⁸ without leading zeros.
    @inline(__always)
    private mutating func putLeading(_ number: UInt64, at place: Int) -> Int {
        let digits = Self.digits(number)
        // Zero keeps its last digit.
        let leading = (digits | 1 << 56).trailingZeroBitCount & ~7
        put((digits | Self.zeros) >> UInt64(leading), at: place)
        return place &+ (8 &- leading >> 3)
    }

    @inline(__always)
    private mutating func putEight(_ digits: UInt64, at place: Int) { put(digits | Self.zeros, at: place) }

    @inline(__always)
    private mutating func putLong(_ number: UInt64, at place: Int) -> Int {
        let upper = number / Self.hundredMillion
        let lower = number &- upper &* Self.hundredMillion
        var place = place
        if upper < Self.hundredMillion {
            place = putLeading(upper, at: place)
        } else {
            let top = upper / Self.hundredMillion
            place = putLeading(top, at: place)
            putEight(Self.digits(upper &- top &* Self.hundredMillion), at: place)
            place &+= 8
        }
        putEight(Self.digits(lower), at: place)
        return place &+ 8
    }

    // MARK: Doubles

    /// Puts the shortest text that reads back as the same double, which must be finite.
    @inline(__always)
    mutating func put(shortest number: Double, at place: Int) -> Int {
        let bits = number.bitPattern
        put(UInt8(ascii: "-"), at: place)
        let place = place &+ Int(bits >> 63)
        let significand = bits & (1 << 52 - 1)
        let exponent = Int(bits >> 52 & 0x7FF)
        // A whole number below 2⁵³ is its own shortest form.
        let fraction = 1075 - exponent
        if UInt64(bitPattern: Int64(fraction)) < 53 {
            let whole = significand | 1 << 52
            if whole & (1 &<< UInt64(fraction) &- 1) == 0 {
                return put(decimal: whole &>> UInt64(fraction), at: place)
            }
        } else if bits << 1 == 0 {
            put(UInt8(ascii: "0"), at: place)
            return place &+ 1
        }
        if let end = putBillionths(number.magnitude, at: place) { return end }
        return putShortest(significand: significand, exponent: exponent, at: place)
    }

    /// Puts a double that is the nearest double to a whole number of billionths; returns nil for others.
    ///
    /// Most measured numbers are of this kind. The number of billionths is exact as a double, so the division below rounds once,
    /// as parsing the text does. Below 2²² the doubles around a number are less than a billionth apart, so no other text with
    /// nine or fewer places reads back as the same double, and this text is the shortest.
    @inline(__always)
    private mutating func putBillionths(_ number: Double, at place: Int) -> Int? {
        guard number >= 0.000_01, number < 4_194_304 else { return nil }
        let billionths = UInt64(number * 1e9 + 0.5)
        guard Double(billionths) / 1e9 == number else { return nil }
        let whole = billionths / 1_000_000_000
        let fraction = billionths &- whole &* 1_000_000_000
        let first = fraction / Self.hundredMillion
        let rest = Self.digits(fraction &- first &* Self.hundredMillion)
        let point = putLeading(whole, at: place)
        put(UInt64(UInt8(ascii: ".")) | (first | 0x30) << 8, at: point)
        putEight(rest, at: point &+ 2)
        // Trailing zeros are omitted; if all eight digits are zero, their count is 8 - 8 = 0.
        return point &+ (2 &+ 8 &- rest.leadingZeroBitCount >> 3)
    }

    /// Puts any double, from the fields of its bit pattern.
    @inline(never)
    private mutating func putShortest(significand: UInt64, exponent biased: Int, at place: Int) -> Int {
        let decimal = ShortestDecimal(significand: significand, exponent: biased)
        // Seventeen digits, the first separate; most doubles have sixteen or seventeen.
        var number = decimal.digits
        var exponent = decimal.exponent + 16
        while number < 10_000_000_000_000_000 {
            number &*= 10
            exponent -= 1
        }
        let first = number / 10_000_000_000_000_000
        let rest = number &- first &* 10_000_000_000_000_000
        let upper = rest / Self.hundredMillion
        let digits = (Self.digits(upper), Self.digits(rest &- upper &* Self.hundredMillion))
        // If all of these digits are zero, the count is 9 - 8 = 1.
        let count =
            digits.1 != 0
            ? 17 - digits.1.leadingZeroBitCount >> 3 : 9 - digits.0.leadingZeroBitCount >> 3
        let initial = UInt8(truncatingIfNeeded: first) | 0x30

        if exponent < 0, exponent >= -5 {
            put(0x3030_3030_3030_2E30 as UInt64, at: place)  // "0.000000"
            let start = place &+ (1 &- exponent)
            put(initial, at: start)
            putEight(digits.0, at: start &+ 1)
            putEight(digits.1, at: start &+ 9)
            return start &+ count
        }
        put(initial, at: place)
        if exponent >= 0, exponent <= 16 {
            putEight(digits.0, at: place &+ 1)
            putEight(digits.1, at: place &+ 9)
            let whole = exponent &+ 1
            if count <= whole { return place &+ whole }
            let point = place &+ whole
            let fraction = (word(at: point), word(at: point &+ 8))
            put(fraction.0, at: point &+ 1)
            put(fraction.1, at: point &+ 9)
            put(UInt8(ascii: "."), at: point)
            return place &+ (count &+ 1)
        }
        put(UInt8(ascii: "."), at: place &+ 1)
        putEight(digits.0, at: place &+ 2)
        putEight(digits.1, at: place &+ 10)
        let mark = count == 1 ? place &+ 1 : place &+ (count &+ 1)
        put(UInt8(ascii: "e"), at: mark)
        return put(decimal: Int64(exponent), at: mark &+ 1)
    }
}
