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

    /// Parses a string in quotes, in which a backslash escapes quotes and backslashes, and stands for itself before other bytes.
    private mutating func quoted() throws(LineFault) -> String {
        let opening = index
        index += 1
        var hasEscapes = false
        while let byte, byte != UInt8(ascii: "\"") {
            let isBackslash = byte == UInt8(ascii: "\\") && index + 1 < bytes.count
            if isBackslash { hasEscapes = true }
            index += isBackslash ? 2 : 1
        }
        guard byte != nil else { throw LineFault(index: opening, code: .unterminatedString) }
        let text = bytes[(opening + 1)..<index]
        index += 1
        return try string(hasEscapes ? Self.unescaped(text) { "\"\\".utf8.contains($0) } : text, at: opening)
    }

    /// Parses the text before the next comma or space.
    private mutating func word() -> ArraySlice<UInt8> {
        let start = index
        while let byte, byte != UInt8(ascii: ","), byte != UInt8(ascii: " ") { index += 1 }
        return bytes[start..<index]
    }

    private mutating func boolean() throws(LineFault) -> Bool {
        let start = index
        switch String(decoding: word(), as: UTF8.self) {
        case "t", "T", "true", "True", "TRUE": return true
        case "f", "F", "false", "False", "FALSE": return false
        default: throw LineFault(index: start, code: .invalidValue)
        }
    }

    private mutating func number() throws(LineFault) -> FieldValue {
        let start = index
        let text = word()
        switch text.last {
        case UInt8(ascii: "i"): return .integer(try wholeNumber(text))
        case UInt8(ascii: "u"): return .unsigned(try wholeNumber(text))
        default:
            guard let number = Double(decimal: text) else { throw LineFault(index: start, code: .invalidNumber) }
            guard number.isFinite else { throw LineFault(index: start, code: .numberOutOfRange) }
            return .double(number)
        }
    }

    /// Parses a whole number that is followed by a letter.
    private mutating func wholeNumber<Number: FixedWidthInteger>(_ text: ArraySlice<UInt8>) throws(LineFault) -> Number
    {
        index = text.startIndex
        guard let number: Number = try wholeNumber(.numberOutOfRange), index == text.endIndex - 1 else {
            throw LineFault(index: text.startIndex, code: .invalidNumber)
        }
        index = text.endIndex
        return number
    }

    /// Parses digits, with an optional minus sign if the type is signed; returns nil if there is no digit.
    mutating func wholeNumber<Number: FixedWidthInteger>(
        _ outOfRange: LineDecodingError.Code
    ) throws(LineFault) -> Number? {
        let start = index
        let isNegative = Number.isSigned && byte == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let firstDigit = index
        var number: Number = 0
        while let byte, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            let digit = Number(byte - UInt8(ascii: "0"))
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !overflow, !carry else { throw LineFault(index: start, code: outOfRange) }
            number = sum
            index += 1
        }
        return index == firstDigit ? nil : number
    }
}

extension Double {
    /// Parses a decimal number as the nearest double, or as infinity if it is too large; nil if the text is not a number.
    ///
    /// A number consists of digits, with an optional minus sign, decimal point and exponent.
    init?(decimal text: ArraySlice<UInt8>) {
        let isNegative = text.first == UInt8(ascii: "-")
        var index = text.startIndex + (isNegative ? 1 : 0)
        var digits: UInt64 = 0
        var digitCount = 0
        var wholeCount: Int?
        scan: while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits = digits &* 10 &+ UInt64(text[index] &- UInt8(ascii: "0"))
                digitCount += 1
            case UInt8(ascii: ".") where wholeCount == nil: wholeCount = digitCount
            default: break scan
            }
            index += 1
        }
        guard digitCount > 0 else { return nil }
        var exponent = (wholeCount ?? digitCount) - digitCount
        if index < text.endIndex {
            guard text[index] | 0x20 == UInt8(ascii: "e") else { return nil }
            var power = text[(index + 1)...]
            let isBelowOne = power.first == UInt8(ascii: "-")
            if isBelowOne || power.first == UInt8(ascii: "+") { power.removeFirst() }
            let isNumber = power.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard !power.isEmpty, isNumber else { return nil }
            // Beyond that, no sum overflows, and no number is between zero and infinity.
            let size = Int(min(Int32(String(decoding: power, as: UTF8.self)) ?? .max, 1 << 20))
            exponent += isBelowOne ? -size : size
        }
        // Up to 19 digits do not overflow. Both numbers are exact as doubles, so the single operation rounds once, correctly.
        if digitCount <= 19, digits <= 1 << 53, abs(exponent) <= 22 {
            let power = Self.powersOfTen[abs(exponent)]
            let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
            self = isNegative ? -magnitude : magnitude
        } else {
            self.init(String(decoding: text, as: UTF8.self))
        }
    }

    /// The powers of ten that a double represents exactly.
    private static let powersOfTen: [Double] = (0...22).map { count in
        (0..<count).reduce(1) { power, _ in power * 10 }
    }
}
