import LoaderChainPlatformFoundation

/// CRC-32C of RFC 3720, eight bytes at a time.
package struct CRC32C: Digest {
    private var state: UInt32 = 0xFFFF_FFFF

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        Self.tables.withUnsafeBufferPointer { tables in
            var crc = state
            var index = 0
            while index + 8 <= bytes.count {
                let next = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let word = next ^ UInt64(crc)
                crc = 0
                for place in 0..<8 {
                    let byte = Int(truncatingIfNeeded: word >> (8 * place) & 0xFF)
                    crc ^= tables[(7 - place) << 8 + byte]
                }
                index += 8
            }
            while index < bytes.count {
                crc = tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)] ^ crc >> 8
                index += 1
            }
            state = crc
        }
    }

    package mutating func finish() -> [UInt8] { (~state).bigEndianBytes }

    /// For each of eight places, what a byte there does to the remainder.
    private static let tables: [UInt32] = {
        let polynomial: UInt32 = 0x82F6_3B78
        var tables = (0..<256).map {
            (0..<8).reduce(UInt32($0)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ polynomial : crc >> 1 }
        }
        for index in 256..<2_048 {
            let before = tables[index - 256]
            tables.append(tables[Int(before & 0xFF)] ^ before >> 8)
        }
        return tables
    }()
}
