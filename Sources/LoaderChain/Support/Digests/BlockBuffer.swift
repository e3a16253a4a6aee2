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

    /// Gives `take` the last one or two blocks.
    ///
    /// - Parameter length: the number of bits, in as many bytes as the hash function has for it.
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
    /// The bytes, most significant first.
    var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> Self($0 * 8)) }
    }
}
