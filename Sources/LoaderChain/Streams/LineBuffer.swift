// Streams: bodies that are read while they arrive: lines, values, and a server's events. It stands on Message, Time and Loader,
// and no loader uses it.

import LoaderChainPlatformFoundation

/// Bytes that arrive in pieces, cut into lines.
///
/// A line is returned as soon as its end is there, and each byte is looked at once, however small the pieces are.
struct LineBuffer: Sendable {
    /// What ends a line.
    enum Ends {
        /// A line feed; one carriage return before it is no part of the line.
        case lineFeed
        /// A line feed, a carriage return, or both in this order, as in a stream of events.
        case lineFeedOrCarriageReturn
    }

    /// A line has more bytes than the limit.
    struct LineTooLong: Error, Hashable {
        let limit: Int
    }

    private let ends: Ends
    private let limit: Int

    private var bytes: [UInt8] = []
    /// Where the first line begins that has not been returned.
    private var start = 0
    /// Up to here, that line has no end.
    private var scanned = 0
    /// Whether a line feed that comes next belongs to the carriage return before it.
    private var skipsLineFeed = false

    init(ends: Ends, limit: Int) {
        self.ends = ends
        self.limit = limit
    }

    /// Adds the next piece.
    mutating func append(_ piece: Data) {
        if start > 0 {
            // What is left is less than a line, and is not moved again before the line is returned.
            bytes.removeSubrange(..<start)
            scanned -= start
            start = 0
        }
        bytes.append(contentsOf: piece)
    }

    /// Returns the next whole line without its end, or nil if more bytes are needed.
    mutating func next() throws(LineTooLong) -> ArraySlice<UInt8>? {
        if skipsLineFeed, scanned < bytes.count {
            skipsLineFeed = false
            if bytes[scanned] == ASCII.lineFeed {
                scanned += 1
                start = scanned
            }
        }
        guard let end = nextEnd() else {
            scanned = bytes.count
            // One byte more may be a carriage return that is no part of the line.
            guard bytes.count - start - 1 <= limit else { throw LineTooLong(limit: limit) }
            return nil
        }
        skipsLineFeed = bytes[end] == ASCII.carriageReturn
        return try line(to: end, nextStart: end + 1)
    }

    /// Returns what follows the last end of a line; nil if nothing does.
    mutating func last() throws(LineTooLong) -> ArraySlice<UInt8>? {
        start == bytes.count ? nil : try line(to: bytes.count, nextStart: bytes.count)
    }

    /// Where the line ends, looking only at bytes that are new.
    private func nextEnd() -> Int? {
        switch ends {
        case .lineFeed: bytes[scanned...].firstIndex(of: ASCII.lineFeed)
        case .lineFeedOrCarriageReturn:
            bytes[scanned...].firstIndex { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn }
        }
    }

    private mutating func line(to end: Int, nextStart: Int) throws(LineTooLong) -> ArraySlice<UInt8> {
        var line = bytes[start..<end]
        if ends == .lineFeed, line.last == ASCII.carriageReturn { line = line.dropLast() }
        start = nextStart
        scanned = nextStart
        guard line.count <= limit else { throw LineTooLong(limit: limit) }
        return line
    }
}
