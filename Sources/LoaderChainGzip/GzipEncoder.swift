import CLoaderChainZlib
import LoaderChainPlatformFoundation

/// Compresses byte sequences with gzip, one after the other, using the system's zlib at its fastest level by default.
///
/// An encoder reuses zlib's state of about 260 KB and its own buffer, so that compressing allocates only the result. Only one
/// thread may use it at a time.
package final class GzipEncoder {
    // It is three times as fast as zlib's default level, and the result is nearly as small for lines.
    package static let quickestLevel: Int32 = 1

    private let stream: UnsafeMutablePointer<loaderchain_zstream>
    private var buffer: UnsafeMutableBufferPointer<UInt8>

    /// Creates an encoder; nil if zlib is not available, or out of memory.
    package init?(level: Int32 = quickestLevel) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: loaderchain_zstream())
        buffer = .allocate(capacity: Self.bufferSize)
        let status = loaderchain_deflate_init(
            stream, level, Int32(loaderchain_z_deflated), Zlib.gzipWindow, Self.memoryLevel,
            Int32(loaderchain_z_default_strategy), loaderchain_zlib_version(), Zlib.streamSize)
        // `deinit` also runs if this initializer fails, and frees the memory.
        guard status == Zlib.ok else { return nil }
    }

    deinit {
        _ = loaderchain_deflate_end(stream)
        stream.deallocate()
        buffer.deallocate()
    }

    private static let memoryLevel: Int32 = 8
    private static let bufferSize = 1 << 16

    /// Compresses bytes to a gzip stream; returns nil if zlib fails, in which case the caller sends the bytes unchanged.
    package func compressed(_ bytes: Data) -> Data? {
        begin() ? add(bytes, isLast: true) : nil
    }

    /// Starts a new stream; returns false if zlib fails.
    package func begin() -> Bool { loaderchain_deflate_reset(stream) == Zlib.ok }

    /// Adds bytes to the current stream, and returns the output so far, which may be empty; nil if zlib fails.
    package func add(_ bytes: Data, isLast: Bool = false) -> Data? {
        var result = Data()
        let isDone = bytes.withUnsafeBytes { input -> Bool in
            var rest = input[...]
            repeat {
                // zlib's lengths have 32 bits.
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
            // If zlib did not fill the buffer, it needs more input.
            if stream.pointee.avail_out > 0 { return !isLast && stream.pointee.avail_in == 0 }
        }
    }
}

/// The arguments and results of zlib's functions.
package enum Zlib {
    package static let ok = Int32(loaderchain_z_ok)
    package static let streamEnd = Int32(loaderchain_z_stream_end)
    package static let bufferError = Int32(loaderchain_z_buf_error)
    /// The largest window, plus 16 for a gzip header and trailer instead of zlib's own.
    package static let gzipWindow = window + 16
    /// The largest window.
    package static let window: Int32 = 15
    package static let streamSize = Int32(MemoryLayout<loaderchain_zstream>.size)
    package static let largestPiece = 1 << 30
}
