/// Writes numbers as text into raw memory, eight digits at a time.
///
/// Every function returns where the text ends, and may write past that end; the caller has made room for
/// ``DigitWriter/room`` bytes.
enum DigitWriter {
    /// The most that one number touches.
    static let room = 40

    private static let zeros: UInt64 = 0x3030_3030_3030_3030
    private static let hundredMillion: UInt64 = 100_000_000

    /// The eight decimal digits of a number below 10⁸, one in each byte, the first in the lowest.
    ///
    /// The number is cut into halves of four digits, those into pairs, and the pairs into digits, each time in all lanes at
    /// once; the multiplications stand for divisions by 10,000, 100 and 10.
    @inline(__always)
    static func digits(_ number: UInt64) -> UInt64 {
        let halves = (number &* 109_951_163) >> 40
        let fours = halves | (number &- 10_000 &* halves) << 32
        let hundreds = ((fours &* 5_243) >> 19) & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = ((pairs &* 103) >> 10) & 0x000F_000F_000F_000F
        return tens | (pairs &- 10 &* tens) << 8
    }

    @inline(__always)
    static func write(_ number: UInt64, at place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        if number < hundredMillion { return writeLeading(number, at: place) }
        return writeLong(number, at: place)
    }

    @inline(__always)
    static func write(_ number: Int64, at place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        place.storeBytes(of: 0x2D, as: UInt8.self)
        return write(number.magnitude, at: number < 0 ? place + 1 : place)
    }

    /// A number below 10⁸ without zeros before it.
    @inline(__always)
    private static func writeLeading(_ number: UInt64, at place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        let digits = digits(number)
        // Zero keeps its last digit.
        let leading = (digits | 1 << 56).trailingZeroBitCount & ~7
        place.store((digits | zeros) >> UInt64(leading))
        return place + (8 - leading >> 3)
    }

    @inline(__always)
    private static func writeLong(_ number: UInt64, at place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        let upper = number / hundredMillion
        let lower = number &- upper &* hundredMillion
        var place = place
        if upper < hundredMillion {
            place = writeLeading(upper, at: place)
        } else {
            let top = upper / hundredMillion
            place = writeLeading(top, at: place)
            place.store(digits(upper &- top &* hundredMillion) | zeros)
            place += 8
        }
        place.store(digits(lower) | zeros)
        return place + 8
    }

    /// The shortest text that reads back as the same double, which must be finite.
    @inline(__always)
    static func write(
        _ number: Double, at place: UnsafeMutableRawPointer, powers: PowersOfTen
    ) -> UnsafeMutableRawPointer {
        let bits = number.bitPattern
        place.storeBytes(of: 0x2D, as: UInt8.self)
        let place = place + Int(bits >> 63)
        let significand = bits & (1 << 52 - 1)
        let exponent = Int(bits >> 52 & 0x7FF)
        // A whole number below 2⁵³ is its own shortest form.
        let fraction = 1075 - exponent
        if UInt64(bitPattern: Int64(fraction)) < 53 {
            let whole = significand | 1 << 52
            if whole & (1 &<< UInt64(fraction) &- 1) == 0 { return write(whole &>> UInt64(fraction), at: place) }
        } else if bits << 1 == 0 {
            place.storeBytes(of: 0x30, as: UInt8.self)
            return place + 1
        }
        return write(ShortestDecimal(significand: significand, exponent: exponent, powers: powers), at: place)
    }

    @inline(__always)
    private static func write(
        _ decimal: ShortestDecimal, at place: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        // Seventeen digits, the first apart; most doubles have sixteen or seventeen.
        var number = decimal.digits
        var exponent = decimal.exponent + 16
        while number < 10_000_000_000_000_000 {
            number &*= 10
            exponent -= 1
        }
        let first = number / 10_000_000_000_000_000
        let rest = number &- first &* 10_000_000_000_000_000
        let upper = rest / hundredMillion
        let digits = (digits(upper), digits(rest &- upper &* hundredMillion))
        let count =
            digits.1 != 0
            ? 17 - digits.1.leadingZeroBitCount >> 3 : 9 - digits.0.leadingZeroBitCount >> 3  // No digit is 9 - 8 = 1.
        let initial = UInt8(truncatingIfNeeded: first) | 0x30

        if exponent < 0, exponent >= -5 {
            place.store(0x3030_3030_3030_2E30)  // "0.000000"
            let start = place + (1 - exponent)
            start.storeBytes(of: initial, as: UInt8.self)
            (start + 1).store(digits.0 | zeros)
            (start + 9).store(digits.1 | zeros)
            return start + count
        }
        place.storeBytes(of: initial, as: UInt8.self)
        if exponent >= 0, exponent <= 16 {
            (place + 1).store(digits.0 | zeros)
            (place + 9).store(digits.1 | zeros)
            let whole = exponent + 1
            if count <= whole { return place + whole }
            let point = place + whole
            let fraction = (point.word, (point + 8).word)
            (point + 1).store(fraction.0)
            (point + 9).store(fraction.1)
            point.storeBytes(of: 0x2E, as: UInt8.self)
            return place + (count + 1)
        }
        (place + 1).storeBytes(of: 0x2E, as: UInt8.self)
        (place + 2).store(digits.0 | zeros)
        (place + 10).store(digits.1 | zeros)
        let mark = count == 1 ? place + 1 : place + (count + 1)
        mark.storeBytes(of: 0x65, as: UInt8.self)
        return write(Int64(exponent), at: mark + 1)
    }
}

extension UnsafeMutableRawPointer {
    /// Eight bytes as they lie in memory, the first in the lowest byte.
    @inline(__always)
    var word: UInt64 { UInt64(littleEndian: loadUnaligned(as: UInt64.self)) }

    @inline(__always)
    func store(_ word: UInt64) { storeBytes(of: word.littleEndian, as: UInt64.self) }
}
