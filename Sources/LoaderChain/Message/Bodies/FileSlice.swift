import DurableFiles
import LoaderChainPlatformFoundation

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

    /// Whether the range is the whole file.
    public var isWholeFile: Bool { bytes == 0..<stamp.length }

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

    /// Reads at most `count` bytes of the open file from `offset` on.
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

    /// The error of a file that ended before its length.
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
