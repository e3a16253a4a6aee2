import DurableFiles
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

/// A position in the bytes of one segment.
private protocol SegmentReader: Sendable {
    /// The next bytes, at least one and at most `count`, or nil at the segment's end.
    mutating func read(upTo count: Int) throws -> Data?
}

private struct DataReader: SegmentReader {
    private var rest: Data

    init(_ data: Data) { rest = data }

    var isEmpty: Bool { rest.isEmpty }

    mutating func read(upTo count: Int) -> Data? {
        guard !rest.isEmpty else { return nil }
        let piece = rest.prefix(count)
        rest = rest.dropFirst(count)
        return piece.rebased
    }
}

/// Reads a file or a range of its bytes; opens it for the first read and closes it after the last.
private struct FileSliceReader: SegmentReader {
    private let slice: FileSlice
    private var offset: Int64
    private var state = State.unopened

    private enum State {
        case unopened
        case open(FileDescriptor)
        case finished
    }

    init(_ slice: FileSlice) {
        self.slice = slice
        offset = slice.bytes.lowerBound
    }

    mutating func read(upTo count: Int) throws(HTTPBodyError) -> Data? {
        switch state {
        case .unopened:
            let file = try slice.open()
            state = .open(file)
            return try read(upTo: count, from: file)
        case .open(let file):
            return try read(upTo: count, from: file)
        case .finished:
            return nil
        }
    }

    private mutating func read(upTo count: Int, from file: FileDescriptor) throws(HTTPBodyError) -> Data? {
        let wanted = Int(min(Int64(min(count, HTTPBodyReader.largestPiece)), slice.bytes.upperBound - offset))
        let piece = wanted == 0 ? Data() : try slice.read(wanted, at: offset, from: file)
        if piece.isEmpty, wanted > 0 { throw slice.endedEarly(at: offset) }
        offset += Int64(piece.count)

        if offset == slice.bytes.upperBound {
            // Checked before the last bytes are returned: a caller that counts bytes does not read again.
            try slice.check(file)
            state = .finished
        }
        return piece.isEmpty ? nil : piece
    }
}

/// Reads a stream, and checks its announced length.
private struct StreamReader: SegmentReader {
    private let stream: HTTPBodyStream
    private var rest = DataReader(Data())
    private var given: Int64 = 0
    private var state = State.unopened

    private enum State {
        case unopened
        case open
        case finished
    }

    init(_ stream: HTTPBodyStream) { self.stream = stream }

    mutating func read(upTo count: Int) throws -> Data? {
        if state == .unopened {
            try stream.open()
            state = .open
        }
        if state == .open, rest.isEmpty { try refill() }
        return rest.read(upTo: count)
    }

    private mutating func refill() throws {
        if let piece = try stream.next() {
            rest = DataReader(piece)
            given += Int64(piece.count)
            if let length = stream.length, given > length { throw untrue("at least \(given)", length) }
        } else {
            state = .finished
            if let length = stream.length, given < length { throw untrue("\(given)", length) }
        }
    }

    private func untrue(_ given: String, _ length: Int64) -> HTTPBodyError {
        HTTPBodyError(
            """
            The stream of this body gave \(given) bytes and had announced \(length); announce what it gives, or no \
            length.
            """, code: .wrongLength)
    }
}
