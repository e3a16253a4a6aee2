// Support: the foundation that Swift lacks: locks, bytes, dates of a calendar, random numbers, secrets. It knows
// nothing of HTTP, and every other folder may use it.

/// Reading and comparing the ASCII text of HTTP byte by byte: no locale, no Unicode folding, no copies.
package enum ASCII {
    static let nul = UInt8(ascii: "\0")
    package static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    package static let carriageReturn = UInt8(ascii: "\r")
    package static let space = UInt8(ascii: " ")
    static let delete: UInt8 = 0x7F

    package static func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    /// The number of decimal digits; nil if another byte is among them, or if there are too few or too many.
    ///
    /// A number that is above `most` becomes it. Without that, one that the type does not hold gives nil.
    static func number<Number: FixedWidthInteger>(
        _ bytes: some Collection<UInt8>, digits: ClosedRange<Int> = 1...Int.max, most: Number? = nil
    ) -> Number? {
        guard digits.contains(bytes.count), bytes.allSatisfy(isDigit) else { return nil }
        var number: Number = 0
        for byte in bytes {
            let (tens, isTooMuch) = number.multipliedReportingOverflow(by: 10)
            let (sum, isMore) = tens.addingReportingOverflow(Number(byte - UInt8(ascii: "0")))
            if isTooMuch || isMore { return most }
            number = sum
        }
        return min(number, most ?? .max)
    }

    /// The byte with an uppercase letter made lowercase, and any other byte as it is.
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Whether all bytes are ASCII and none is an uppercase letter.
    static func isLowercase(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { $0 < 0x80 && lowercased($0) == $0 }
    }

    /// Whether the byte is a control character other than a tab, which header values must not hold.
    package static func isForbiddenInValue(_ byte: UInt8) -> Bool {
        byte < space && byte != tab || byte == delete
    }

    /// The bytes without the spaces and tabs at both ends.
    package static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        let tail = bytes.drop { isBlank($0) }
        guard let last = tail.lastIndex(where: { !isBlank($0) }) else { return tail }
        return tail[...last]
    }

    /// Whether the byte is a space or a tab.
    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == space || byte == tab
    }

    /// Whether `text` is a token: not empty, and only letters, digits and a few punctuation marks.
    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { ASCIISet.token.contains($0) }
    }

    /// Whether both texts have the same bytes, apart from the case of `A` to `Z`.
    package static func isEqualIgnoringCase(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        let answer = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in
                left.elementsEqual(right) { $0 == $1 || lowercased($0) == lowercased($1) }
            }
        }
        if let answer, let answer { return answer }
        // The bytes of a string that is bridged from Objective-C need not be contiguous.
        return left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    /// Whether `needle`, which is lowercase, occurs in `text` in any case.
    package static func contains(_ text: String, lowercase needle: String) -> Bool {
        var rest = Substring(text).utf8
        while rest.count >= needle.utf8.count {
            if needle.utf8.elementsEqual(rest.prefix(needle.utf8.count), by: { $0 == lowercased($1) }) { return true }
            rest.removeFirst()
        }
        return false
    }

    /// The text for one line of a log: characters that would break or reorder the line are escaped.
    package static func printable(_ text: String) -> String {
        if text.utf8.allSatisfy({ space..<delete ~= $0 }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: shown += scalar.escaped(asASCII: true)
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// The beginning of a text in quotes, as a sentence shows what it was given.
    package static func quoted(_ text: String) -> String {
        "\"" + printable(String(text.unicodeScalars.prefix(100))) + "\""
    }

    /// A byte's name for a sentence: `a line feed (0x0A)`, `the character ":"`.
    static func spoken(_ byte: UInt8) -> String {
        switch byte {
        case nul: "a null byte (0x00)"
        case tab: "a tab (0x09)"
        case lineFeed: "a line feed (0x0A)"
        case carriageReturn: "a carriage return (0x0D)"
        case space: "a space (0x20)"
        case ..<space, delete: "a control character (0x\(Hexadecimal.text(byte, isUppercase: true)))"
        case ..<delete: "the character “\(Character(Unicode.Scalar(byte)))”"
        default: "a byte outside ASCII (0x\(Hexadecimal.text(byte, isUppercase: true)))"
        }
    }

    /// The value of a hexadecimal digit in either case, or nil for any other byte.
    package static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte - UInt8(ascii: "0") }
        let letter = lowercased(byte) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}

/// A set of ASCII bytes whose membership test is one shift.
package struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The set of the bytes of `characters`; bytes outside ASCII are left out.
    package init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    /// Whether `byte` is in the set; false for bytes outside ASCII.
    package func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte - 64) & 1 == 1
        default: false
        }
    }

    private mutating func insert(_ byte: UInt8) {
        switch byte {
        case 0..<64: low |= 1 << UInt64(byte)
        case 64..<128: high |= 1 << UInt64(byte - 64)
        default: break  // Not ASCII.
        }
    }
}

extension ASCIISet {
    package static let alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    /// The punctuation that a token may hold, in addition to letters and digits (RFC 9110, section 5.6.2).
    static let tokenMarks = "!#$%&'*+-.^_`|~"

    /// The bytes of a token: a method, a header's name, half of a media type.
    package static let token = ASCIISet(alphanumerics + tokenMarks)
}

package enum Hexadecimal {
    /// The number of up to 16 digits in either case; nil if there is another byte, or none.
    package static func value(of bytes: some Collection<UInt8>) -> UInt64? { number(bytes) }

    /// The same for bytes in memory, which is not generic, so that it is quick in other modules, too.
    package static func value(of bytes: UnsafeBufferPointer<UInt8>) -> UInt64? { number(bytes) }

    private static func number(_ bytes: some Collection<UInt8>) -> UInt64? {
        guard 1...16 ~= bytes.count else { return nil }
        var value: UInt64 = 0
        for byte in bytes {
            guard let digit = ASCII.hexadecimalValue(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// Whether all bytes are digits as this type writes them.
    package static func isLowercase(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 }
    }

    /// All digits of a number, with the zeros before it.
    package static func text(_ value: some FixedWidthInteger & UnsignedInteger, isUppercase: Bool = false) -> String {
        var bytes: [UInt8] = []
        append(UInt64(value), digits: value.bitWidth / 4, isUppercase: isUppercase, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Two lowercase digits for each byte.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes { append(UInt64(byte), digits: 2, to: &digits) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Appends the digits of a number, with zeros before them if it has fewer than `digits`.
    package static func append(
        _ value: UInt64, digits least: Int = 1, isUppercase: Bool = false, to bytes: inout [UInt8]
    ) {
        let ten = (isUppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")) - 10
        for place in (0..<max(least, (UInt64.bitWidth - value.leadingZeroBitCount + 3) / 4)).reversed() {
            let digit = UInt8(value >> UInt64(4 * place) & 15)
            bytes.append((digit < 10 ? UInt8(ascii: "0") : ten) + digit)
        }
    }
}
