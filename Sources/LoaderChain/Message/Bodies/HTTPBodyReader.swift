import LoaderChainPlatformFoundation

/// A position in the bytes of a body, which reading moves on.
///
/// It opens a file when its turn comes and closes it after the last byte, so that at most one file is open. A reader
/// that has failed stays failed. Copies read independently, except in a stream: use only one reader there, or each
/// would miss bytes.
public struct HTTPBodyReader: Sendable {
    /// The most bytes that one read takes from a file, however many are requested.
    static let largestPiece = 256 * 1024

    private var segments: ArraySlice<HTTPBodyContent.Segment>
    private var current: (any SegmentReader)?
    private var failure: (any Error)?

    init(_ segments: [HTTPBodyContent.Segment]) { self.segments = segments[...] }

    /// The next bytes, at least one and at most `count`, or nil at the end.
    ///
    /// A read may return fewer bytes than are left. It throws ``HTTPBodyError`` if a file is missing or has changed, or
    /// if a stream does not have its announced length, and any error that a stream throws.
    public mutating func read(upTo count: Int) throws -> Data? {
        precondition(count > 0, "HTTPBodyReader was asked for \(count) bytes; ask for one at least")
        if let failure { throw failure }
        do {
            return try next(upTo: count)
        } catch {
            failure = error
            current = nil
            segments = []
            throw error
        }
    }

    private mutating func next(upTo count: Int) throws -> Data? {
        while true {
            if let piece = try current?.read(upTo: count) { return piece }
            current = segments.popFirst()?.makeReader()
            if current == nil { return nil }
        }
    }
}

extension HTTPBodyContent.Segment {
    fileprivate func makeReader() -> any SegmentReader {
        switch self {
        case .data(let data): DataReader(data)
        case .file(let slice): FileSliceReader(slice)
        case .stream(let stream): StreamReader(stream)
        }
    }
}
