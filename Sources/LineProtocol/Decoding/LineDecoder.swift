// Decoding: the decoder. Depends on Model; no folder uses it.

/// Reads lines as points, strictly: what InfluxDB refuses is an error with its place, and the next line goes on.
///
/// The bytes come in pieces of any size, and the decoder keeps no more than the line that is not complete, so text of any
/// length is read in constant memory:
///
/// ```swift
/// var decoder = LineDecoder(precision: .seconds)
/// for piece in ["cpu load=0.5 1700000000\ncpu lo", "ad=oops\ncpu load=0.7 1700000002"] {
///     decoder.decode(piece.utf8) { print($0) }
/// }
/// decoder.finish { print($0) }
/// // success(cpu load=0.5 1700000000000000000)
/// // failure(line 2, column 10: a value is neither a number, a string, true nor false)
/// // success(cpu load=0.7 1700000002000000000)
/// ```
///
/// Empty lines and comments are skipped. A string may hold line ends. If one is never closed, the line it began in is an
/// error, and reading goes on behind the first end of that line.
///
/// A float comes back as a double. Backslashes in names are themselves, except before a comma, an `=` and a space; what they
/// mean when they are doubled differs from server to server, so the encoder never writes that.
public struct LineDecoder: Sendable {
    /// The unit of the timestamps.
    public let precision: Precision
    /// The longest line that is kept, in bytes; a longer one is an error.
    public let maximumLineLength: Int
    /// Whether a carriage return before the end of a line belongs to that end.
    ///
    /// InfluxDB refuses such lines, so this is not the default. Text that went through a system or an editor that ends lines
    /// by two characters is read with it; a carriage return within a string stays.
    public let readsCarriageReturns: Bool

    private var splitter = LineSplitter()
    /// The beginning of an incomplete line, which the splitter has seen.
    private var pending: [UInt8] = []
    /// The number of the line that comes next or is not complete.
    private var line = 1

    /// Makes a decoder that stands at the first line.
    public init(
        precision: Precision = .nanoseconds, maximumLineLength: Int = 16_777_216, readsCarriageReturns: Bool = false
    ) {
        self.precision = precision
        self.maximumLineLength = max(1, maximumLineLength)
        self.readsCarriageReturns = readsCarriageReturns
    }

    /// Reads the next piece of the text.
    ///
    /// - Parameters:
    ///   - bytes: The piece, which may begin and end anywhere.
    ///   - body: Is handed each point or error, in the order of the lines.
    public mutating func decode(_ bytes: some Sequence<UInt8>, _ body: (Result<Point, LineDecodingError>) -> Void) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { decode($0[...], body) }
        if done == nil { decode(Array(bytes)[...], body) }
    }

    /// Reads what is left of the text, which is a last line without an end.
    ///
    /// - Parameter body: Is handed each point or error, in the order of the lines.
    public mutating func finish(_ body: (Result<Point, LineDecodingError>) -> Void) {
        // A comment is skipped, and counts as a line all the same.
        while !pending.isEmpty || splitter.isSkipping {
            if splitter.isInString {
                giveUpOpenString(body)
            } else {
                read(body)
                splitter = LineSplitter()
            }
        }
    }
}

// MARK: Pieces

extension LineDecoder {
    private mutating func decode<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ body: (Result<Point, LineDecodingError>) -> Void
    ) where Bytes.Index == Int, Bytes.SubSequence == Bytes {
        var rest = bytes
        while !rest.isEmpty {
            let end = splitter.end(in: rest)
            let part = splitter.isSkipping ? rest[..<rest.startIndex] : rest[..<(end ?? rest.endIndex)]
            let room = maximumLineLength - pending.count
            if part.count > room {
                pending += part.prefix(room)
                rest = rest.dropFirst(room)
                giveUpLongLine(body)
            } else {
                pending += part
                guard let end else { return }
                splitter = LineSplitter()
                rest = rest[(end + 1)...]
                read(body)
            }
        }
    }

    /// Reads the pending line, which is now complete.
    private mutating func read(_ body: (Result<Point, LineDecodingError>) -> Void) {
        var bytes: [UInt8] = []
        swap(&bytes, &pending)
        if readsCarriageReturns, bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        read(bytes, body)
        // The memory serves the next line.
        bytes.removeAll(keepingCapacity: true)
        pending = bytes
    }

    /// Reads one line, which has no more newlines than its strings hold.
    private mutating func read(_ bytes: [UInt8], _ body: (Result<Point, LineDecodingError>) -> Void) {
        var parser = LineParser(bytes, precision: precision)
        if parser.byte != nil {
            do throws(LineFault) {
                body(.success(try parser.point()))
            } catch {
                body(.failure(located(error, in: bytes)))
            }
        }
        line += 1 + Self.newlines(in: bytes[...])
    }

    private func located(_ fault: LineFault, in bytes: [UInt8]) -> LineDecodingError {
        let before = bytes[..<fault.index]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return LineDecodingError(
            line: line + Self.newlines(in: before), column: fault.index - lineStart + 1, code: fault.code)
    }

    private static func newlines(in bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 == UInt8(ascii: "\n") } }
}

// MARK: Going on after a line without an end

extension LineDecoder {
    /// Refuses the pending line, whose last string never ends, and continues after its first newline.
    private mutating func giveUpOpenString(_ body: (Result<Point, LineDecodingError>) -> Void) {
        let all = takePending()
        let end = all.firstIndex(of: UInt8(ascii: "\n")) ?? all.count
        read(Array(all[..<end]), body)
        decode(all[min(end + 1, all.count)...], body)
    }

    /// Refuses the pending line, which is as long as a line may be and goes on.
    ///
    /// If it has a newline in a string, that may have been meant as its end. Otherwise its end is still to come.
    private mutating func giveUpLongLine(_ body: (Result<Point, LineDecodingError>) -> Void) {
        body(.failure(LineDecodingError(line: line, column: 1, code: .overlongLine)))
        let all = takePending()
        guard let end = all.firstIndex(of: UInt8(ascii: "\n")) else {
            splitter.skip()
            return
        }
        line += 1
        // These are fewer than a line may have, so this does not come back here.
        decode(all[(end + 1)...], body)
    }

    private mutating func takePending() -> [UInt8] {
        var all: [UInt8] = []
        swap(&all, &pending)
        splitter = LineSplitter()
        return all
    }
}

/// Finds where a line ends: at the first newline that is not in a string.
///
/// It sees every byte once, in order, in whatever pieces they come.
struct LineSplitter {
    private enum Part {
        /// Nothing but space has come.
        case start
        /// What no one reads: a comment, or the rest of a line that is too long.
        case skipped
        case series
        /// The key of a field, or the time.
        case key
        /// A value, in which alone quotes are quotes.
        case value
        case string
    }

    private var part = Part.start
    private var isEscaped = false

    var isInString: Bool { part == .string }
    var isSkipping: Bool { part == .skipped }

    /// Passes over the rest of the line.
    mutating func skip() { part = .skipped }

    /// The place of the newline that ends the line, or nothing if it does not end in these bytes.
    @inline(__always)
    mutating func end<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> Int? where Bytes.Index == Int {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            // A newline ends the line behind a backslash too, unless it is in a string.
            if byte == UInt8(ascii: "\n"), part != .string { return index }
            if isEscaped { isEscaped = false } else { take(byte) }
            index += 1
        }
        return nil
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8) {
        if part == .start { begin(byte) }
        switch byte {
        case UInt8(ascii: "\\"): isEscaped = part != .skipped
        case UInt8(ascii: " ") where part == .series || part == .value: part = .key
        case UInt8(ascii: "=") where part == .key: part = .value
        case UInt8(ascii: ",") where part == .value: part = .key
        case UInt8(ascii: "\"") where part == .value: part = .string
        case UInt8(ascii: "\"") where part == .string: part = .value
        default: break  // Part of something.
        }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0: break  // Servers skip these.
        default: part = byte == UInt8(ascii: "#") ? .skipped : .series
        }
    }
}
