#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A place in the bytes of a body, moved along by reading.
///
/// It opens a file when its turn comes and closes it at its last byte, so that at most one is open. A reader that has
/// failed stays failed. Copies read on by themselves, each from where it is, except in a stream: there a copy would
/// find bytes missing, so keep to one.
public struct HTTPBodyReader: Sendable {
    /// The most bytes that one read takes into memory from a file, however many are asked for.
    static let largestPiece = 256 * 1024

    private var segments: ArraySlice<HTTPBodyContent.Segment>
    private var current: (any SegmentReader)?
    private var failure: (any Error)?

    init(_ segments: [HTTPBodyContent.Segment]) {
        self.segments = segments[...]
    }

    /// The next bytes, at least one and at most `count`, or nil at the end.
    ///
    /// A read may answer fewer bytes than there are left. It throws ``HTTPBodyError`` where a file is missing or has
    /// changed, or a stream does not keep to its length, and whatever a stream throws itself.
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
