/// Reads the value of a header field from left to right, in linear time.
struct FieldScanner {
    /// What has not been read yet.
    var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    /// Skips spaces and tabs, and returns whether there were any.
    @discardableResult
    mutating func skipBlanks() -> Bool { !take(while: ASCII.isBlank).isEmpty }

    /// Takes a mark if it comes next, and returns whether it did.
    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Takes the bytes before the first that does not fulfil a condition.
    mutating func take(while isPart: (UInt8) -> Bool) -> Substring.UTF8View {
        let bytes = rest.prefix(while: isPart)
        rest = rest[bytes.endIndex...]
        return bytes
    }

    /// Takes the digits that come next, and returns their number; nil if there are too few or too many.
    mutating func takeNumber(_ digits: ClosedRange<Int>) -> Int? {
        ASCII.number(take(while: ASCII.isDigit), digits: digits)
    }

    /// Takes a time of day, two digits three times, and returns its seconds.
    mutating func takeClock() -> Int? {
        guard let hour = takeNumber(2...2), hour < 24, take(":") else { return nil }
        guard let minute = takeNumber(2...2), minute < 60, take(":") else { return nil }
        guard let second = takeNumber(2...2), second <= 60 else { return nil }  // The sixtieth is a leap second.
        return (hour * 60 + minute) * 60 + second
    }

    /// Takes the rest of a quoted string, whose first quote has been taken, and its last quote; without that, all that is left is the text.
    mutating func takeQuoted() -> String {
        var text: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
