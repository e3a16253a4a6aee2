#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        stamp = try FileDescriptor(reading: url).stamp()
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
        let file = try FileDescriptor(reading: url)
        try check(file)
        return file
    }

    /// Throws if the file has changed.
    func check(_ file: FileDescriptor) throws(HTTPBodyError) {
        let now = try file.stamp()
        guard now.length == stamp.length else { throw changed("it has \(now.length) bytes and had \(stamp.length)") }
        guard now == stamp else { throw changed("it has been written to") }
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
