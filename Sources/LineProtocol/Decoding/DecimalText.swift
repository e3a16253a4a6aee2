// Decoding: the decoder. Depends on the other folders; no folder uses it.

/// A decimal number as text, known to be one: digits, perhaps with a point among them, and perhaps an exponent.
struct DecimalText {
    private let bytes: ArraySlice<UInt8>
    private var isNegative = false
    /// The digits as a number, without the point; they are fewer than twenty, or `isExact` is false.
    private var digits: UInt64 = 0
    private var isExact = true
    private var exponent = 0

    /// Checks the text, or gives nothing if it is no number.
    init?(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        var index = bytes.startIndex
        if bytes.first == UInt8(ascii: "-") {
            isNegative = true
            index += 1
        }
        var digitCount = 0
        var hasPoint = false
        scan: while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digitCount += 1
                take(bytes[index] - UInt8(ascii: "0"), afterPoint: hasPoint)
            case UInt8(ascii: "."):
                if hasPoint { return nil }
                hasPoint = true
            default: break scan
            }
            index += 1
        }
        guard digitCount > 0 else { return nil }
        if index < bytes.endIndex, !takeExponent(from: index) { return nil }
    }

    private mutating func take(_ digit: UInt8, afterPoint: Bool) {
        // Ten times this, and nine more, still fit.
        let most: UInt64 = 999_999_999_999_999_999
        if digits > most {
            isExact = false
        } else {
            digits = digits * 10 + UInt64(digit)
            if afterPoint { exponent -= 1 }
        }
    }

    private mutating func takeExponent(from mark: Int) -> Bool {
        var index = mark
        guard bytes[index] | 0x20 == UInt8(ascii: "e") else { return false }
        index += 1
        guard index < bytes.endIndex else { return false }
        let isBelowOne = bytes[index] == UInt8(ascii: "-")
        if isBelowOne || bytes[index] == UInt8(ascii: "+") { index += 1 }
        guard index < bytes.endIndex else { return false }
        var power = 0
        for byte in bytes[index...] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return false }
            // Far beyond any double; the whole text decides then.
            if power < 100_000 { power = power * 10 + Int(byte - UInt8(ascii: "0")) }
        }
        exponent += isBelowOne ? -power : power
        return true
    }

    /// The nearest double, which is infinite for a number beyond the largest one.
    var double: Double? {
        // Both numbers are exact as doubles, so the one operation rounds once, which is right.
        if isExact, digits <= 1 << 53, abs(exponent) <= 22 {
            let power = Self.powers[abs(exponent)]
            let number = exponent < 0 ? Double(digits) / power : Double(digits) * power
            return isNegative ? -number : number
        }
        return Double(String(decoding: bytes, as: UTF8.self))
    }

    /// The powers of ten that a double holds exactly.
    private static let powers: [Double] = (0...22).map { count in (0..<count).reduce(1) { power, _ in power * 10 } }
}
