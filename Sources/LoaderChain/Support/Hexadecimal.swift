/// Numbers as hexadecimal digits of a fixed count.
package enum Hexadecimal {
    /// The number of up to 16 digits in either case; nil if there is another byte, or none.
    package static func value(of bytes: some Collection<UInt8>) -> UInt64? {
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

    /// The 16 lowercase digits of a number.
    package static func text(_ value: UInt64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        append(value, digits: 16, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the last digits of a number, in lowercase.
    package static func append(_ value: UInt64, digits count: Int, to bytes: inout [UInt8]) {
        for place in (0..<count).reversed() { bytes.append(digit(UInt8(value >> UInt64(4 * place) & 15))) }
    }

    @inline(__always)
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}
