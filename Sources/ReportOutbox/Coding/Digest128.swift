import LoaderChainPlatformFoundation

/// 128 bits of bytes, by FNV-1a: enough that no two of one program meet by chance.
///
/// Equal bytes have the same digest on every device and at every launch. It is not cryptographic: an attacker can construct
/// collisions.
package struct Digest128: Hashable, Sendable {
    private static let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013B
    /// The bits as a number.
    package private(set) var value: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    init() {}

    /// The digest of a whole.
    package init(_ bytes: Data) { add(bytes) }

    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
    }

    mutating func add(_ bytes: Data) {
        bytes.withUnsafeBytes { for byte in $0 { add(byte) } }
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt128(byte)) &* Self.prime }

    /// The bits in hexadecimal, always of the same length.
    package var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
