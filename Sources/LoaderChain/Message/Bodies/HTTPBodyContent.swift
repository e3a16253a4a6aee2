#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The bytes of an encoded body, in the order they go over the wire.
///
/// It holds what is in memory and names what is not: a file is read when its turn comes, and never whole.
public struct HTTPBodyContent: Sendable {
    /// A run of bytes that come from one place.
    public enum Segment: Sendable {
        /// Bytes in memory.
        case data(Data)

        /// A file, or a range of its bytes.
        case file(FileSlice)

        /// Bytes made while they are sent.
        case stream(HTTPBodyStream)

        /// How many bytes there are, or nil for a stream that does not know.
        public var length: Int64? {
            switch self {
            case .data(let data): Int64(data.count)
            case .file(let slice): slice.length
            case .stream(let stream): stream.length
            }
        }
    }

    /// Where the bytes come from, in order.
    public let segments: [Segment]

    /// How many bytes there are in all, or nil where a stream does not know.
    public let length: Int64?

    /// The bytes of `segments`, in order.
    public init(segments: [Segment]) {
        self.segments = segments
        length = segments.reduce(0 as Int64?) { sum, segment in
            guard let sum, let length = segment.length else { return nil }
            // Only made-up lengths can overflow; the reader finds them untrue whatever the sum says.
            let (total, overflow) = sum.addingReportingOverflow(length)
            return overflow ? .max : total
        }
    }

    /// No bytes.
    public static let empty = HTTPBodyContent(segments: [])

    /// The bytes of `data`.
    public static func data(_ data: Data) -> HTTPBodyContent {
        HTTPBodyContent(segments: [.data(data)])
    }

    /// The bytes of the file at `url`, which has to be there.
    public static func file(_ url: URL) throws(HTTPBodyError) -> HTTPBodyContent {
        HTTPBodyContent(segments: [.file(try FileSlice(url))])
    }

    /// A reader at the first byte.
    ///
    /// Any number of readers may read the same content, except that a stream gives its bytes to one alone.
    public func makeReader() -> HTTPBodyReader {
        HTTPBodyReader(segments)
    }

    /// All the bytes in memory, provided there are at most `limit`.
    ///
    /// A file or stream is read for it, and what is in a stream is then gone.
    public func data(upTo limit: Int) throws -> Data {
        if let length, length > limit {
            throw HTTPBodyError(
                "The body has \(length) bytes, more than the limit of \(limit); raise it or read piece by piece.")
        }
        if segments.count == 1, case .data(let data) = segments[0] { return data.rebased }

        var collected = Data()
        var reader = makeReader()
        while let piece = try reader.read(upTo: HTTPBodyReader.largestPiece) {
            guard piece.count <= limit - collected.count else {
                throw HTTPBodyError(
                    "The body has more bytes than the limit of \(limit); raise it or read piece by piece.")
            }
            collected.append(piece)
        }
        return collected
    }
}
