import LoaderChain

/// Numbers in the names of files.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The value of a digit as this library writes it, or in uppercase.
    static func value(_ byte: UInt8) -> UInt8? { ASCII.hexadecimalValue(byte) }

    /// The number of up to 16 digits, or nil.
    static func number(_ text: some Collection<UInt8>) -> UInt64? {
        guard 1...16 ~= text.count else { return nil }
        var number: UInt64 = 0
        for byte in text {
            guard let digit = value(byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }

    /// Writes a number, with zeros before it up to a width.
    static func append(_ number: UInt64, width: Int = 1, to text: inout [UInt8]) {
        let needed = max(width, (UInt64.bitWidth - number.leadingZeroBitCount + 3) / 4)
        for place in stride(from: needed - 1, through: 0, by: -1) {
            text.append(digits[Int(place < 16 ? number >> (4 * place) & 15 : 0)])
        }
    }
}
