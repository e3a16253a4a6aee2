// Terminal/Outgoing: bodies on their way out, for every terminal. It may use Incoming for temporary files.

import LoaderChainPlatformFoundation

/// Writes a body into a temporary file, piece by piece.
package enum AssembledBody {
    private static let portion = 256 << 10

    /// Writes the file; returns nil, and leaves nothing behind, if it was stopped meanwhile.
    package static func write(_ content: HTTPBodyContent, isStopped: () -> Bool) throws -> URL? {
        let file = try TemporaryFile("body")
        var reader = content.makeReader()
        var length: Int64 = 0
        while let piece = try reader.read(upTo: portion) {
            if isStopped() { return nil }
            try file.write(piece, at: length)
            length += Int64(piece.count)
        }
        file.keep()
        return file.url
    }
}
