import LoaderChainPlatformFoundation

/// A checksum as servers name it, which is computed while the bytes go by; it detects damaged bytes, and no secret depends on it.
package protocol Digest: Sendable {
    init()

    mutating func add(_ bytes: UnsafeRawBufferPointer)

    /// Returns the checksum of all bytes, most significant byte first, and ends the computation: add nothing afterwards.
    mutating func finish() -> [UInt8]
}

extension Digest {
    package mutating func add(_ bytes: Data) { bytes.withUnsafeBytes { add($0) } }

    package static func of(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var digest = Self()
        Array(bytes).withUnsafeBytes { digest.add($0) }
        return digest.finish()
    }
}

/// CRC-32C of RFC 3720, eight bytes at a time: the checksum of everything that the package keeps on a disk, too.
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

    /// The checksum of what was added so far.
    package var value: UInt32 { ~state }

    package mutating func finish() -> [UInt8] { value.bigEndianBytes }

    package static func value(of bytes: Data) -> UInt32 {
        var checksum = CRC32C()
        checksum.add(bytes)
        return checksum.value
    }

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

/// MD5 of RFC 1321, which servers still name as a checksum; it protects against damage, and against no attacker.
package struct MD5: Digest {
    private var blocks = BlockBuffer(size: 64)
    private var state: (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476)

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        blocks.add(bytes) { Self.take($0, into: &state) }
        self.state = state
    }

    package mutating func finish() -> [UInt8] {
        var state = state
        let length = (blocks.count &* 8).byteSwapped.bigEndianBytes
        blocks.finish(length: length) { Self.take($0, into: &state) }
        return [state.0, state.1, state.2, state.3].flatMap(\.byteSwapped.bigEndianBytes)
    }

    private static func take(_ block: UnsafeRawBufferPointer, into state: inout (UInt32, UInt32, UInt32, UInt32)) {
        var (a, b, c, d) = state
        constants.withUnsafeBufferPointer { constants in
            for round in 0..<64 {
                let (mixed, word): (UInt32, Int)
                switch round >> 4 {
                case 0: (mixed, word) = (b & c | ~b & d, round)
                case 1: (mixed, word) = (d & b | ~d & c, (5 &* round &+ 1) & 15)
                case 2: (mixed, word) = (b ^ c ^ d, (3 &* round &+ 5) & 15)
                default: (mixed, word) = (c ^ (b | ~d), (7 &* round) & 15)
                }
                let part = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: word &* 4, as: UInt32.self))
                let sum = a &+ mixed &+ constants[round] &+ part
                let shift = shifts[round >> 4][round & 3]
                (a, d, c, b) = (d, c, b, b &+ (sum &<< shift | sum &>> (32 &- shift)))
            }
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d)
    }

    private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]

    /// The whole parts of 2³² times the absolute sines of 1 to 64.
    private static let constants: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]
}

/// Cuts bytes into the blocks that a hash function takes, and pads the last one.
///
/// MD5, SHA-256 and SHA-512 all end with a bit that is set, zeros, and the number of bits in the last bytes of a block.
struct BlockBuffer: Sendable {
    private let size: Int
    private var waiting: [UInt8] = []
    private(set) var count: UInt64 = 0

    init(size: Int) {
        self.size = size
        waiting.reserveCapacity(2 * size)
    }

    /// Adds bytes, and gives `take` every block that is whole.
    mutating func add(_ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Void) {
        count += UInt64(bytes.count)
        var rest = bytes[...]
        if !waiting.isEmpty {
            let missing = rest.prefix(size - waiting.count)
            waiting.append(contentsOf: missing)
            rest = rest.dropFirst(missing.count)
            guard waiting.count == size else { return }
            waiting.withUnsafeBytes(take)
            waiting.removeAll(keepingCapacity: true)
        }
        while rest.count >= size {
            take(UnsafeRawBufferPointer(rebasing: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        waiting.append(contentsOf: rest)
    }

    /// Gives `take` the last one or two blocks; `length` is the number of bits, in as many bytes as the hash function has for it.
    mutating func finish(length: [UInt8], _ take: (UnsafeRawBufferPointer) -> Void) {
        waiting.append(0x80)
        while (waiting.count + length.count) % size != 0 { waiting.append(0) }
        waiting += length
        waiting.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: size) {
                take(UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]))
            }
        }
        waiting = []
    }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> Self($0 * 8)) }
    }
}
