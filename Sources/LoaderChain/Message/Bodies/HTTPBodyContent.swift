import DurableFiles
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
            return sum.addingClamped(length)
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

/// Bytes that are made while they are sent, for one reader only.
public struct HTTPBodyStream: Sendable {
    /// The number of bytes; nil if it is unknown.
    public let length: Int64?

    private let pull: @Sendable () throws -> Data?
    private let reading = OneShot()

    /// Makes a stream that calls `next` for each piece, until it returns nil.
    ///
    /// The calls come one after the other, on the thread that sends the body. Empty pieces are skipped. An error that
    /// `next` throws ends the body, and is passed to the reader unchanged.
    public init(length: Int64? = nil, next: @escaping @Sendable () throws -> Data?) {
        self.length = length
        pull = next
    }

    /// Claims the stream for its only reader; throws on a second call.
    func open() throws(HTTPBodyError) {
        guard reading.take() else {
            throw HTTPBodyError(
                "The stream of this body has been read already, and its bytes are gone; make a new body.",
                code: .alreadyRead)
        }
    }

    /// The next piece that has bytes, or nil at the end.
    func next() throws -> Data? {
        while let piece = try pull() {
            if !piece.isEmpty { return piece.rebased }
        }
        return nil
    }
}

/// A file, or a range of its bytes, as it was at one moment.
///
/// It remembers the file's length and the time of its last change. Reading it later fails if either differs: bytes that
/// do not fit the announced length must not be sent.
public struct FileSlice: Hashable, Sendable {
    /// The file's URL.
    public let url: URL

    /// The range of bytes.
    public let bytes: Range<Int64>

    /// The number of bytes.
    public var length: Int64 { bytes.upperBound - bytes.lowerBound }

    package var isWholeFile: Bool { bytes == 0..<stamp.length }

    private let stamp: FileStamp

    /// Makes a slice of the file at `url`, which must exist; by default of the whole file.
    public init(_ url: URL, bytes: Range<Int64>? = nil) throws(HTTPBodyError) {
        stamp = try Self.doing(url) { () throws(FileFailure) in try Self.open(url).stamp() }
        self.url = url
        self.bytes = bytes ?? 0..<stamp.length
        guard self.bytes.lowerBound >= 0, self.bytes.upperBound <= stamp.length else {
            throw HTTPBodyError(
                """
                \(HTTPBodyError.name(url)) has \(stamp.length) bytes, and the range \(self.bytes) is not within them; \
                take the range from the file's length.
                """)
        }
    }

    /// Makes a slice of a file as it was when `stamp` was taken, although another one may be at `url` by now.
    package init(_ url: URL, bytes: Range<Int64>, of stamp: FileStamp) {
        (self.url, self.bytes, self.stamp) = (url, bytes, stamp)
    }

    /// Opens the file; throws if it has changed.
    func open() throws(HTTPBodyError) -> FileDescriptor {
        let file = try Self.doing(url) { () throws(FileFailure) in try Self.open(url) }
        try check(file)
        return file
    }

    /// Throws if the file has changed.
    func check(_ file: FileDescriptor) throws(HTTPBodyError) {
        let now = try Self.doing(url) { () throws(FileFailure) in try file.stamp() }
        guard now.length == stamp.length else { throw changed("it has \(now.length) bytes and had \(stamp.length)") }
        guard now == stamp else { throw changed("it has been written to") }
    }

    func read(_ count: Int, at offset: Int64, from file: FileDescriptor) throws(HTTPBodyError) -> Data {
        try Self.doing(url) { () throws(FileFailure) in try file.read(count, at: offset) }
    }

    private static func open(_ url: URL) throws(FileFailure) -> FileDescriptor {
        try FileDescriptor(reading: url.path(percentEncoded: false))
    }

    private static func doing<Result>(
        _ url: URL, _ body: () throws(FileFailure) -> Result
    ) throws(HTTPBodyError) -> Result {
        guard url.isFileURL, !url.path(percentEncoded: false).utf8.contains(ASCII.nul) else {
            throw HTTPBodyError(
                "“\(ASCII.printable(url.absoluteString))” does not name a file; give a file URL, with a path on the disk."
            )
        }
        do throws(FileFailure) { return try body() } catch { throw HTTPBodyError(url, error) }
    }

    func endedEarly(at offset: Int64) -> HTTPBodyError {
        changed("it ended after \(offset) bytes and had \(stamp.length)")
    }

    private func changed(_ how: String) -> HTTPBodyError {
        HTTPBodyError(
            """
            \(HTTPBodyError.name(url)) changed after the body was encoded: \(how); leave it alone until the request is \
            done, and make a new body for the new content.
            """, code: .changedFile)
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

    /// The same bytes with indices from zero: a slice keeps the indices of its base, which callers do not expect.
    var rebased: Data { startIndex == 0 ? self : Data(self) }
}
