/// The values of fields.
extension LineParser {
    mutating func value() throws(LineFault) -> FieldValue {
        guard let byte else { throw fault(.missingFieldValue) }
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: " "): throw fault(.missingFieldValue)
        case UInt8(ascii: "\""): return .string(try quoted())
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: return .boolean(try boolean())
        }
    }

    /// A string in quotes, in which a backslash escapes quotes and backslashes, and is itself otherwise.
    private mutating func quoted() throws(LineFault) -> String {
        let opening = index
        index += 1
        var hasEscapes = false
        while let byte {
            if byte == UInt8(ascii: "\\"), index + 1 < bytes.count {
                hasEscapes = true
                index += 2
            } else if byte == UInt8(ascii: "\"") {
                break
            } else {
                index += 1
            }
        }
        guard byte != nil else { throw LineFault(index: opening, code: .unterminatedString) }
        let text = bytes[(opening + 1)..<index]
        index += 1
        return try string(hasEscapes ? Self.unescaped(text, Self.stringEscapes) : text, at: opening)
    }

    private static let stringEscapes = ByteSet("\"\\")

    private mutating func boolean() throws(LineFault) -> Bool {
        let start = index
        while let byte, byte != UInt8(ascii: ","), byte != UInt8(ascii: " ") { index += 1 }
        switch String(decoding: bytes[start..<index], as: UTF8.self) {
        case "t", "T", "true", "True", "TRUE": return true
        case "f", "F", "false", "False", "FALSE": return false
        default: throw LineFault(index: start, code: .invalidValue)
        }
    }

    private mutating func number() throws(LineFault) -> FieldValue {
        let start = index
        while let byte, byte != UInt8(ascii: ","), byte != UInt8(ascii: " ") { index += 1 }
        let end = index
        switch bytes[end - 1] {
        case UInt8(ascii: "i"):
            index = start
            guard let number = try wholeNumber(.numberOutOfRange), index == end - 1 else {
                throw LineFault(index: start, code: .invalidNumber)
            }
            index = end
            return .integer(number)
        case UInt8(ascii: "u"):
            index = start
            guard let number = try digits(.numberOutOfRange), index == end - 1 else {
                throw LineFault(index: start, code: .invalidNumber)
            }
            index = end
            return .unsigned(number)
        default:
            guard let decimal = DecimalText(bytes[start..<end]) else {
                throw LineFault(index: start, code: .invalidNumber)
            }
            guard let number = decimal.double, number.isFinite else {
                throw LineFault(index: start, code: .numberOutOfRange)
            }
            return .double(number)
        }
    }

    /// Digits with an optional minus before them, or nothing if there is no digit.
    mutating func wholeNumber(_ outOfRange: Failure) throws(LineFault) -> Int64? {
        let start = index
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { index += 1 }
        guard let magnitude = try digits(outOfRange) else { return nil }
        if isNegative {
            guard magnitude <= UInt64(Int64.max) + 1 else { throw LineFault(index: start, code: outOfRange) }
            return Int64(truncatingIfNeeded: 0 &- magnitude)
        }
        guard magnitude <= UInt64(Int64.max) else { throw LineFault(index: start, code: outOfRange) }
        return Int64(magnitude)
    }

    private mutating func digits(_ outOfRange: Failure) throws(LineFault) -> UInt64? {
        let start = index
        var number: UInt64 = 0
        while let byte, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !overflow, !carry else { throw LineFault(index: start, code: outOfRange) }
            number = sum
            index += 1
        }
        return index == start ? nil : number
    }
}

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
