import LoaderChainPlatformFoundation

/// Gzip streams with stored blocks, which every decoder reads and no compressor is needed for.
package enum StoredGzip {
    /// The longest block that a two-byte length can describe.
    private static let longestBlock = 65_535

    /// A gzip stream with one member that decodes to `bytes`.
    package static func stream(of bytes: Data) -> Data {
        // Magic, deflate, no flags, no time, no hint, and an unknown system.
        var stream = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(longestBlock)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            stream.append(littleEndian: length)
            stream.append(littleEndian: ~length)
            stream.append(block)
        } while !rest.isEmpty
        stream.append(littleEndian: checksum(of: bytes))
        stream.append(littleEndian: UInt32(truncatingIfNeeded: bytes.count))
        return stream
    }

    /// The CRC-32 that gzip uses.
    package static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { remainder, _ in
            remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0xEDB8_8320
        }
    }
}

extension Data {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
