/// A set of ASCII bytes whose membership test is one shift.
package struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The set of the bytes of `characters`; bytes outside ASCII are left out.
    init(_ characters: String) {
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
    static let alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    /// The punctuation that a token may hold besides letters and digits (RFC 9110, section 5.6.2).
    static let tokenMarks = "!#$%&'*+-.^_`|~"

    /// The bytes of a token: a method, a header's name, half of a media type.
    package static let token = ASCIISet(alphanumerics + tokenMarks)
}
