// Decoding: the decoder. Depends on Model; no folder uses it.

/// Decodes lines as points, strictly: a line that InfluxDB rejects is an error with its position, and decoding continues with the
/// next.
///
/// The bytes can be passed in pieces of any size. The decoder stores only the incomplete line, so text of any length is decoded in
/// constant memory:
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
/// Empty lines and comments are skipped. A string may contain newlines. If a string is never closed, the line in which it began
/// is an error, and decoding continues after the first newline of that line. In long text with many such strings, a newline ends
/// a line even in a string, so that decoding takes linear time.
///
/// A float is decoded as a double. A backslash in a name stands for itself, except before a comma, an `=` or a space. Servers
/// disagree about doubled backslashes, so the encoder never writes them.
public struct LineDecoder: Sendable {
    /// The unit of the timestamps.
    public let precision: Precision
    /// The maximum length of a line in bytes; a longer line is an error.
    public let maximumLineLength: Int

    private var splitter = LineSplitter()
    /// The beginning of an incomplete line, which the splitter has processed.
    private var pending: [UInt8] = []
    /// The number of the next or incomplete line.
    private var line = 1
    /// How many bytes may still be processed once more, after a string without an end.
    private var repeatableBytes = 1 << 16

    /// Creates a decoder.
    public init(precision: Precision = .nanoseconds, maximumLineLength: Int = 16_777_216) {
        self.precision = precision
        self.maximumLineLength = max(1, maximumLineLength)
    }

    /// Decodes the next piece of the text.
    ///
    /// - Parameters:
    ///   - bytes: The piece, which may begin and end anywhere.
    ///   - body: A closure that is called with each point or error, in the order of the lines.
    public mutating func decode(_ bytes: some Sequence<UInt8>, _ body: (Result<Point, LineDecodingError>) -> Void) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { decodeNew($0[...], body) }
        if done == nil { decodeNew(Array(bytes)[...], body) }
    }

    /// Decodes the rest of the text, which is a last line without a newline.
    ///
    /// - Parameter body: A closure that is called with each point or error, in the order of the lines.
    public mutating func finish(_ body: (Result<Point, LineDecodingError>) -> Void) {
        // A skipped comment counts as a line.
        while !pending.isEmpty || splitter.isSkipping {
            if splitter.isInString { giveUpOpenString(body) } else { endLine(body) }
        }
    }
}

// MARK: Pieces

extension LineDecoder {
    private mutating func decodeNew<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ body: (Result<Point, LineDecodingError>) -> Void
    ) where Bytes.Index == Int, Bytes.SubSequence == Bytes {
        // Some strings without an end are in any text, and few need more.
        repeatableBytes = min(repeatableBytes + 4 * min(bytes.count, 1 << 27), 1 << 29)
        decode(bytes, body)
    }

    private mutating func decode<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ body: (Result<Point, LineDecodingError>) -> Void
    ) where Bytes.Index == Int, Bytes.SubSequence == Bytes {
        var rest = bytes
        while !rest.isEmpty {
            let end = splitter.end(in: rest)
            let part = splitter.isSkipping ? rest[..<rest.startIndex] : rest[..<(end ?? rest.endIndex)]
            let limit = maximumLineLength - pending.count
            if part.count > limit {
                pending += part.prefix(limit)
                rest = rest.dropFirst(limit)
                giveUpLongLine(body)
            } else {
                pending += part
                guard let end else { return }
                rest = rest[(end + 1)...]
                endLine(body)
            }
        }
    }

    private mutating func endLine(_ body: (Result<Point, LineDecodingError>) -> Void) {
        splitter = LineSplitter()
        read(body)
    }

    /// Decodes the pending line, which is now complete.
    private mutating func read(_ body: (Result<Point, LineDecodingError>) -> Void) {
        var bytes: [UInt8] = []
        swap(&bytes, &pending)
        read(bytes, body)
        // The memory is reused for the next line.
        bytes.removeAll(keepingCapacity: true)
        pending = bytes
    }

    /// Decodes one line, whose newlines are all in strings.
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

// MARK: Recovering from a line without an end

extension LineDecoder {
    /// Rejects the pending line, whose last string never ends, and continues after its first newline.
    private mutating func giveUpOpenString(_ body: (Result<Point, LineDecodingError>) -> Void) {
        let all = takePending()
        let end = all.firstIndex(of: UInt8(ascii: "\n")) ?? all.count
        read(Array(all[..<end]), body)
        decodeAgain(all[min(end + 1, all.count)...], body)
    }

    /// Rejects the pending line, which exceeds the maximum length.
    ///
    /// If it contains a newline in a string, decoding continues after it, because the string may be unterminated. Otherwise the
    /// rest of the line is skipped.
    private mutating func giveUpLongLine(_ body: (Result<Point, LineDecodingError>) -> Void) {
        body(.failure(LineDecodingError(line: line, column: 1, code: .overlongLine)))
        let all = takePending()
        guard let end = all.firstIndex(of: UInt8(ascii: "\n")) else {
            splitter.skip()
            return
        }
        line += 1
        // These bytes are fewer than the maximum, so this does not recurse again.
        decodeAgain(all[(end + 1)...], body)
    }

    /// Decodes the bytes after a line that was given up.
    private mutating func decodeAgain(
        _ bytes: ArraySlice<UInt8>, _ body: (Result<Point, LineDecodingError>) -> Void
    ) {
        guard bytes.count > repeatableBytes else {
            repeatableBytes -= bytes.count
            return decode(bytes, body)
        }
        // Text in which every string is open would otherwise be processed once for each of its lines.
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            decode(rest[..<end], body)
            endLine(body)
            rest = rest[(end + 1)...]
        }
        decode(rest, body)
    }

    private mutating func takePending() -> [UInt8] {
        var all: [UInt8] = []
        swap(&all, &pending)
        splitter = LineSplitter()
        return all
    }
}

/// Finds the end of a line, the first newline that is not in a string; processes every byte once, in order, in pieces of any size.
struct LineSplitter {
    private enum Part {
        /// Only spaces so far.
        case start
        /// Ignored text: a comment, or the rest of a line that is too long.
        case skipped
        case series
        /// The key of a field, or the time.
        case key
        /// A value, the only part in which a quote begins a string.
        case value
        case string
    }

    private var part = Part.start
    private var isEscaped = false

    var isInString: Bool { part == .string }
    var isSkipping: Bool { part == .skipped }

    mutating func skip() { part = .skipped }

    /// The index of the newline that ends the line, or nil if the line does not end in these bytes.
    @inline(__always)
    mutating func end<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> Int? where Bytes.Index == Int {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            // A newline outside a string ends the line even after a backslash.
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
        default: break  // The byte does not change the part.
        }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0: break  // Servers skip these.
        default: part = byte == UInt8(ascii: "#") ? .skipped : .series
        }
    }
}
