/// The syntax of JSON, byte by byte.
enum JSONText {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// The byte that a one-letter escape stands for.
    static func escaped(_ letter: UInt8) -> UInt8? {
        switch letter {
        case quote, backslash, UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    static func hexadecimal(_ digits: some Collection<UInt8>) -> UInt16? {
        var number: UInt16 = 0
        for digit in digits {
            let letter = (digit | 0x20) &- UInt8(ascii: "a")
            guard isDigit(digit) || letter < 6 else { return nil }
            number = number << 4 | UInt16(isDigit(digit) ? digit - zero : letter + 10)
        }
        return number
    }

    /// The text of a string's bytes between its quotes, which are known to be valid.
    ///
    /// A lone surrogate becomes U+FFFD.
    static func text(_ inside: ArraySlice<UInt8>) -> String {
        guard inside.contains(backslash) else { return String(decoding: inside, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(inside.count)
        var units: [UInt16] = []
        var rest = inside
        while let byte = rest.popFirst() {
            let letter = byte == backslash ? rest.popFirst() : nil
            if letter == UInt8(ascii: "u"), let unit = hexadecimal(rest.prefix(4)) {
                units.append(unit)
                rest = rest.dropFirst(4)
                continue
            }
            plain.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
            units.removeAll(keepingCapacity: true)
            plain.append(letter.flatMap(escaped) ?? byte)
        }
        plain.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
        return String(decoding: plain, as: UTF8.self)
    }
}
