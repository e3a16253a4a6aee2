import CLoaderChainZlib
import LoaderChainPlatformFoundation

/// Compresses one run of bytes after the other by gzip, through the system's zlib, at its quickest level.
///
/// An encoder keeps zlib's tables, some 260 KB, and its own buffer from one run to the next, so that compressing allocates
/// nothing but the result. It is used by one thread at a time.
package final class GzipEncoder {
    // It runs three times as fast as zlib's usual level, and lines get nearly as small.
    package static let quickestLevel: Int32 = 1

    private let stream: UnsafeMutablePointer<loaderchain_zstream>
    private var buffer: UnsafeMutableBufferPointer<UInt8>

    /// Makes an encoder; nil if there is no zlib, or it has no memory.
    package init?(level: Int32 = quickestLevel) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: loaderchain_zstream())
        buffer = .allocate(capacity: Self.bufferSize)
        let status = loaderchain_deflate_init(
            stream, level, Int32(loaderchain_z_deflated), Zlib.gzipWindow, Self.memoryLevel,
            Int32(loaderchain_z_default_strategy), loaderchain_zlib_version(), Zlib.streamSize)
        // What was allocated is given back by `deinit`, which also runs then.
        guard status == Zlib.ok else { return nil }
    }

    deinit {
        _ = loaderchain_deflate_end(stream)
        stream.deallocate()
        buffer.deallocate()
    }

    private static let memoryLevel: Int32 = 8
    private static let bufferSize = 1 << 16

    /// The bytes as a gzip stream; nil if zlib fails, which the caller answers by sending them as they are.
    package func compressed(_ bytes: Data) -> Data? {
        begin() ? add(bytes, isLast: true) : nil
    }

    /// Begins another stream; false if zlib fails.
    package func begin() -> Bool { loaderchain_deflate_reset(stream) == Zlib.ok }

    /// Adds bytes to the stream that was begun.
    ///
    /// - Parameter isLast: whether the stream ends with them.
    /// - Returns: what has come out, which may be nothing; nil if zlib fails.
    package func add(_ bytes: Data, isLast: Bool = false) -> Data? {
        var result = Data()
        let isDone = bytes.withUnsafeBytes { input -> Bool in
            var rest = input[...]
            repeat {
                // zlib counts in 32 bits.
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Zlib.largestPiece))
                rest = rest.dropFirst(piece.count)
                guard feed(piece, isLast: isLast && rest.isEmpty, to: &result) else { return false }
            } while !rest.isEmpty
            return true
        }
        stream.pointee.next_in = nil
        return isDone ? result : nil
    }

    private func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool, to result: inout Data) -> Bool {
        stream.pointee.next_in = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(piece.count)
        let flush = Int32(isLast ? loaderchain_z_finish : loaderchain_z_no_flush)
        while true {
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            let status = loaderchain_deflate(stream, flush)
            let written = buffer.count - Int(stream.pointee.avail_out)
            result.append(UnsafeBufferPointer(rebasing: buffer[..<written]))
            if status == Zlib.streamEnd { return true }
            guard status == Zlib.ok || status == Zlib.bufferError else { return false }
            // Room that was not used means that zlib wants more to read.
            if stream.pointee.avail_out > 0 { return !isLast && stream.pointee.avail_in == 0 }
        }
    }
}

/// What zlib's functions are called with, and answer.
package enum Zlib {
    package static let ok = Int32(loaderchain_z_ok)
    package static let streamEnd = Int32(loaderchain_z_stream_end)
    package static let bufferError = Int32(loaderchain_z_buf_error)
    /// The largest window, and 16 for a gzip header and trailer in place of zlib's own.
    package static let gzipWindow: Int32 = 15 + 16
    package static let streamSize = Int32(MemoryLayout<loaderchain_zstream>.size)
    package static let largestPiece = 1 << 30
}
