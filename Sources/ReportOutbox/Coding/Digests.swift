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

/// CRC-32 as in Ethernet, four bytes at a time: enough to tell torn bytes from whole ones.
struct Checksum: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    var value: UInt32 { ~state }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        Self.tables.withUnsafeBufferPointer { tables in
            var crc = state
            var index = 0
            while index + 4 <= bytes.count {
                crc ^= UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
                crc =
                    tables[768 + Int(crc & 0xFF)] ^ tables[512 + Int(crc >> 8 & 0xFF)]
                    ^ tables[256 + Int(crc >> 16 & 0xFF)] ^ tables[Int(crc >> 24)]
                index += 4
            }
            while index < bytes.count {
                crc = tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)] ^ crc >> 8
                index += 1
            }
            state = crc
        }
    }

    mutating func add(_ data: Data) { data.withUnsafeBytes { add($0) } }

    static func of(_ data: Data) -> UInt32 {
        var checksum = Checksum()
        checksum.add(data)
        return checksum.value
    }

    /// For each of four places, what a byte there does to the remainder.
    private static let tables: [UInt32] = {
        let polynomial: UInt32 = 0xEDB8_8320
        var tables = (0..<256).map {
            (0..<8).reduce(UInt32($0)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ polynomial : crc >> 1 }
        }
        for index in 256..<1024 {
            let before = tables[index - 256]
            tables.append(tables[Int(before & 0xFF)] ^ before >> 8)
        }
        return tables
    }()
}
