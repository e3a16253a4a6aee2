import CLoaderChainZlib

/// Decompresses a stream of zlib's algorithm of any length, piece by piece, in constant memory.
///
/// A gzip stream may have several members, one after the other, as `cat a.gz b.gz` makes them. Only one thread may use it at a time.
package final class GzipDecoder {
    /// What surrounds the compressed bytes.
    package enum Form: Sendable {
        /// A file of gzip.
        case gzip
        /// The `deflate` of HTTP: zlib's own format, or nothing around the bytes, as some servers misread the name.
        case deflate
    }

    package enum Fault: Error, Hashable, Sendable {
        /// The bytes are not such a stream, or do not match its checksum.
        case damaged
        /// zlib is not available, or out of memory.
        case unavailable
    }

    private enum Phase {
        case before
        /// zlib holds state for a member, or for a stream that has none.
        case within
        /// That has ended; another member may follow.
        case after
    }

    /// zlib keeps the address of this struct, so it must not move.
    private let stream: UnsafeMutablePointer<loaderchain_zstream>
    private let form: Form
    private var phase = Phase.before
    private var output = [UInt8](repeating: 0, count: outputSize)

    private static let outputSize = 1 << 16

    package init(_ form: Form = .gzip) {
        self.form = form
        stream = .allocate(capacity: 1)
        stream.initialize(to: loaderchain_zstream())
    }

    deinit {
        if phase == .within { _ = loaderchain_inflate_end(stream) }
        stream.deallocate()
    }

    /// Whether the last member has been decompressed to its end.
    package var isComplete: Bool { phase != .within }

    /// Decompresses the next piece of the stream, which may begin and end anywhere; `pass` gets the output, at most 64 KiB at a time, and
    /// returns whether it wants more.
    package func decode(_ bytes: ArraySlice<UInt8>, _ pass: (ArraySlice<UInt8>) -> Bool) throws(Fault) {
        var rest = bytes
        while true {
            // Some tools pad the last block with zeros.
            if phase == .after, form == .gzip { rest = rest.drop { $0 == 0 } }
            guard let first = rest.first else { return }
            if phase != .within { try begin(with: first) }
            guard let more = try inflate(rest, pass) else { return }
            rest = more
        }
    }

    /// Begins a member, or a stream that has none.
    private func begin(with first: UInt8) throws(Fault) {
        if phase == .after, form == .deflate { throw .damaged }
        stream.pointee = loaderchain_zstream()
        // The low bits of zlib's first byte name its only algorithm; the bare bytes of no compressor begin with them.
        let deflateWindow = first & 0xF == 8 ? Zlib.window : -Zlib.window
        let window = form == .gzip ? Zlib.gzipWindow : deflateWindow
        guard loaderchain_inflate_init(stream, window, loaderchain_zlib_version(), Zlib.streamSize) == Zlib.ok
        else { throw .unavailable }
        phase = .within
    }

    /// Decompresses bytes up to their end or the end of the member, and returns the rest; nil if no more output is wanted.
    private func inflate(_ bytes: ArraySlice<UInt8>, _ pass: (ArraySlice<UInt8>) -> Bool) throws(Fault)
        -> ArraySlice<UInt8>?
    {
        var rest = bytes.prefix(Zlib.largestPiece)
        while true {
            let (status, used, written) = step(rest)
            rest = rest.dropFirst(used)
            if written > 0, !pass(output[..<written]) { return nil }
            if status == Zlib.streamEnd {
                _ = loaderchain_inflate_end(stream)
                phase = .after
                return bytes[rest.startIndex...]
            }
            // Without input, and without output held back for lack of space, zlib waits for the next piece.
            let isStarved = status == Zlib.bufferError && rest.isEmpty
            guard status == Zlib.ok || isStarved else { throw .damaged }
            if rest.isEmpty, written < output.count { return bytes[rest.startIndex...] }
        }
    }

    /// Calls zlib once; returns its status, and the numbers of bytes that it has read and written.
    private func step(_ bytes: ArraySlice<UInt8>) -> (status: Int32, used: Int, written: Int) {
        bytes.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                let status = loaderchain_inflate(stream, Int32(loaderchain_z_no_flush))
                stream.pointee.next_in = nil
                return (
                    status, input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out)
                )
            }
        }
    }
}
