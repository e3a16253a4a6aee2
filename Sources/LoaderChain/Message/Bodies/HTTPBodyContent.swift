import LoaderChainPlatformFoundation

/// The bytes of an encoded body, in the order in which they are sent.
///
/// It holds bytes that are in memory, and refers to others: a file is read piece by piece when its turn comes.
public struct HTTPBodyContent: Sendable {
    /// A run of bytes that come from one place.
    public enum Segment: Sendable {
        /// Bytes in memory.
        case data(Data)

        /// A file, or a range of its bytes.
        case file(FileSlice)

        /// Bytes that are made while they are sent.
        case stream(HTTPBodyStream)

        /// The number of bytes; nil for a stream of unknown length.
        public var length: Int64? {
            switch self {
            case .data(let data): Int64(data.count)
            case .file(let slice): slice.length
            case .stream(let stream): stream.length
            }
        }
    }

    /// The segments, in order.
    public let segments: [Segment]

    /// The number of all bytes; nil with a stream of unknown length.
    public let length: Int64?

    /// The bytes of `segments`, in order.
    public init(segments: [Segment]) {
        self.segments = segments
        length = segments.reduce(0 as Int64?) { sum, segment in
            guard let sum, let length = segment.length else { return nil }
            // Only false lengths can overflow, and the reader detects those whatever the sum is.
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

    /// The bytes of the file at `url`, which must exist.
    public static func file(_ url: URL) throws(HTTPBodyError) -> HTTPBodyContent {
        HTTPBodyContent(segments: [.file(try FileSlice(url))])
    }

    /// Makes a reader at the first byte.
    ///
    /// Any number of readers may read the same content, but a stream gives its bytes to only one of them.
    public func makeReader() -> HTTPBodyReader {
        HTTPBodyReader(segments)
    }

    /// All bytes, if there are at most `limit`; throws otherwise.
    ///
    /// Files and streams are read; the bytes of a stream are gone afterwards.
    public func data(upTo limit: Int) throws -> Data {
        if let length, length > limit {
            throw HTTPBodyError(
                "The body has \(length) bytes, more than the limit of \(limit); raise it or read piece by piece.",
                code: .tooLarge)
        }
        if segments.count == 1, case .data(let data) = segments[0] { return data.rebased }

        var collected = Data()
        var reader = makeReader()
        while let piece = try reader.read(upTo: HTTPBodyReader.largestPiece) {
            try collected.append(piece, upTo: limit)
        }
        return collected
    }
}

extension Data {
    /// Appends a piece of a body; throws if there are more than `limit` bytes then.
    mutating func append(_ piece: Data, upTo limit: Int) throws(HTTPBodyError) {
        guard piece.count <= limit - count else {
            throw HTTPBodyError(
                "The body has more bytes than the limit of \(limit); raise it or read piece by piece.", code: .tooLarge)
        }
        append(piece)
    }
}
