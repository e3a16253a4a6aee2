/// What a row of a board is found by: host, method and route as bytes in one place, with their hash.
///
/// It is put together on the stack, so that a request is counted without an allocation, and without a string of its route.
struct RowKey: ~Copyable {
    let bytes: UnsafeBufferPointer<UInt8>
    let hash: UInt64

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        hash = Self.hash(bytes)
    }

    /// Puts a key together and does something with it.
    ///
    /// - Parameters:
    ///   - host: the host.
    ///   - method: the method.
    ///   - route: what names the route: itself, or a path that is still to be reduced to its template.
    ///   - isPath: which of both it is.
    ///   - body: what is done with the key.
    static func with<Result>(
        host: String, method: HTTPMethod, route: String, isPath: Bool, _ body: (borrowing RowKey) -> Result
    ) -> Result {
        let lengths = (host.utf8.count, method.rawValue.utf8.count, route.utf8.count)
        let separators = 2
        let room = lengths.0 + lengths.1 + separators + max(lengths.2, PathTemplate.room(for: lengths.2))
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
            var count = copy(host, to: buffer, at: 0)
            buffer[count] = 0
            count = copy(method.rawValue, to: buffer, at: count + 1)
            buffer[count] = 0
            count += 1
            if isPath {
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[count...])
                count += withBytes(of: route) { PathTemplate.write($0, to: rest) }
            } else {
                count = copy(route, to: buffer, at: count)
            }
            return body(RowKey(UnsafeBufferPointer(rebasing: buffer[..<count])))
        }
    }

    /// Host, method and route of a key's bytes, as text.
    static func parts(of bytes: [UInt8]) -> (host: String, method: String, route: String) {
        let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        return (parts[0], parts[1], parts[2])
    }

    private static func copy(_ text: String, to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        withBytes(of: text) { bytes in
            let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[start...])
            rest.copyMemory(from: UnsafeRawBufferPointer(bytes))
            return start + bytes.count
        }
    }

    @inline(__always)
    private static func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        // A string bridged from Objective-C need not lie in one piece.
        var copy = text
        return copy.withUTF8(body)
    }

    /// Scatters eight bytes at a time.
    ///
    /// A board has few rows, so that whoever finds routes with one hash makes it a little slower and no more.
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let raw = UnsafeRawBufferPointer(bytes)
        let wordSize = MemoryLayout<UInt64>.size
        var hash = UInt64(raw.count)
        var offset = 0
        while offset + wordSize <= raw.count {
            hash = step(hash, raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += wordSize
        }
        if raw.count >= wordSize {
            // The last word overlaps the one before it.
            return step(hash, raw.loadUnaligned(fromByteOffset: raw.count - wordSize, as: UInt64.self))
        }
        let rest = raw.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return step(hash, rest)
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* SplitMix64.step
        return product ^ product >> 29
    }
}
