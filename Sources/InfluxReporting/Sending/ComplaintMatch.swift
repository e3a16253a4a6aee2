import LineProtocol
import LoaderChainPlatformFoundation

/// Finds the lines of a request that a server's complaint is about.
package struct ComplaintMatch: Sendable, Hashable {
    /// A line by its number in the request, from 0, with the server's reason for rejecting it.
    package struct Named: Sendable, Hashable {
        package let line: Int
        package let reason: String
    }

    /// The lines that the server names unambiguously, each once and in order.
    package private(set) var named: [Named] = []
    /// A line whose number the server gives without its text.
    package private(set) var suspect: Int?
    /// The number of rejected lines that are not named.
    package private(set) var unnamedCount = 0
    /// Whether the server may have rejected further lines without saying so.
    ///
    /// InfluxDB 1 reports one kind of error at a time: if it has dropped lines because of their types or times, it does not report
    /// lines that it could not parse.
    package private(set) var mayHideOthers = false

    package init(_ complaint: ServerComplaint, in batch: LineBatch) {
        if !complaint.accusations.isEmpty {
            match(complaint.accusations, in: batch)
        } else if let conflict = FieldConflict(complaint.message) {
            drop(conflict.lines(in: batch), of: complaint, in: batch)
        } else if complaint.message.contains("points beyond retention policy") {
            drop(Self.oldest(complaint.droppedCount ?? 0, in: batch), of: complaint, in: batch)
        } else {
            let quotes = QuotedLines(in: complaint.message, of: batch)
            named = quotes.named
            unnamedCount = quotes.missed + min(complaint.droppedCount ?? 0, batch.count)
        }
        // A partial write has rejected at least one line.
        if complaint.isPartial, named.isEmpty { unnamedCount = max(1, unnamedCount) }
        unnamedCount = min(unnamedCount, batch.count - named.count)
    }

    private mutating func match(_ accusations: [ServerComplaint.Accusation], in batch: LineBatch) {
        var found: [Int: String] = [:]
        // A server may accuse one long line any number of times, and comparing takes as long as the line is.
        var compared: Set<Int> = []
        for accusation in accusations {
            guard accusation.number > 0, accusation.number <= batch.count else {
                unnamedCount += 1
                continue
            }
            let line = accusation.number - 1
            if found[line] != nil { continue }
            if let text = accusation.text, compared.insert(line).inserted,
                Self.resembles(text, batch.text(of: line))
            {
                found[line] = ServerComplaint.brief(accusation.reason)
            } else {
                suspect = suspect ?? line
                unnamedCount += 1
            }
        }
        named = found.sorted { $0.key < $1.key }.map { Named(line: $0.key, reason: $0.value) }
    }

    /// Treats the found lines as the dropped ones, if the server's count agrees.
    private mutating func drop(_ lines: [Int], of complaint: ServerComplaint, in batch: LineBatch) {
        let dropped = complaint.droppedCount ?? 0
        mayHideOthers = complaint.isPartial
        if !lines.isEmpty, lines.count <= dropped {
            let reason = complaint.reason
            named = lines.map { Named(line: $0, reason: reason) }
        }
        unnamedCount = max(0, dropped - named.count)
    }

    /// Whether the text that a server shows can be this line: servers omit quotes and backslashes, and truncate the text.
    private static func resembles(_ shown: String, _ line: String) -> Bool {
        func plain(_ text: String) -> [UInt8] {
            text.utf8.filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        }
        var shown = shown
        for ellipsis in ["...", "…"] where shown.hasSuffix(ellipsis) { shown.removeLast(ellipsis.count) }
        let (start, whole) = (plain(shown), plain(line))
        return !start.isEmpty && whole.starts(with: start)
    }

    /// The `count` lines with the earliest times; none if a tie makes the choice ambiguous.
    private static func oldest(_ count: Int, in batch: LineBatch) -> [Int] {
        var times: [(time: Int64, line: Int)] = []
        batch.decode { line, point in if let time = point.timestamp { times.append((time.nanoseconds, line)) } }
        times.sort { ($0.time, $0.line) < ($1.time, $1.line) }
        guard count > 0, count <= times.count else { return [] }
        let isClear = count == times.count || times[count].time > times[count - 1].time
        return isClear ? times[..<count].map(\.line).sorted() : []
    }
}

extension LineBatch {
    /// Decodes the lines, and calls `body` with the number and the point of each valid one.
    func decode(_ body: (Int, Point) -> Void) {
        for line in 0..<count {
            var decoder = LineDecoder(precision: precision)
            decoder.decode(bytes[range(of: line)]) { if case .success(let point) = $0 { body(line, point) } }
        }
    }
}

/// A conflict between a field's type and a new value's type, as InfluxDB 1 and 2 report it.
///
/// `field type conflict: input field "f" on measurement "m" is type integer, already exists as type float dropped=2`
private struct FieldConflict {
    let measurement: String
    let field: String
    /// The type of the new value.
    let type: String

    init?(_ message: String) {
        guard let start = message.firstRange(of: "field type conflict: input field \""),
            let middle = message[start.upperBound...].firstRange(of: "\" on measurement \""),
            let type = message[middle.upperBound...].firstRange(of: "\" is type "),
            let end = message[type.upperBound...].firstRange(of: ", already exists")
        else { return nil }
        field = String(message[start.upperBound..<middle.lowerBound])
        measurement = String(message[middle.upperBound..<type.lowerBound])
        self.type = String(message[type.upperBound..<end.lowerBound])
    }

    /// The lines that write the field with that type.
    func lines(in batch: LineBatch) -> [Int] {
        var found: [Int] = []
        batch.decode { line, point in
            guard point.measurement == measurement, let value = point.fields[field], Self.name(of: value) == type
            else { return }
            found.append(line)
        }
        return found
    }

    private static func name(of value: FieldValue) -> String {
        switch value {
        case .double, .float: "float"
        case .integer: "integer"
        case .unsigned: "unsigned"
        case .boolean: "boolean"
        case .string: "string"
        }
    }
}

/// The lines that InfluxDB 1 and 2 quote: `unable to parse '…': reason`, one line of text each, in the order of the lines.
private struct QuotedLines {
    private(set) var named: [ComplaintMatch.Named] = []
    /// The number of quotes that match no line.
    private(set) var missed = 0

    // The content of a line can look like any part of the message, so quotes are compared with whole lines, starting after the last
    // match. A quote without a match searches all remaining lines, so the number of these is limited.
    private static let mostMissed = 16
    private static let opening = Array("unable to parse '".utf8)
    private static let nextOpening = Array("\nunable to parse '".utf8)
    private static let closing = Array("': ".utf8)

    init(in message: String, of batch: LineBatch) {
        var message = message
        message.withUTF8 { text in
            batch.bytes.withUnsafeBytes { lines in search(UnsafeRawBufferPointer(text), for: batch, lines) }
        }
    }

    private mutating func search(
        _ text: UnsafeRawBufferPointer, for batch: LineBatch, _ lines: UnsafeRawBufferPointer
    ) {
        var position = 0
        var next = 0
        while missed < Self.mostMissed, let opening = Self.place(of: Self.opening, in: text, from: position) {
            position = opening + Self.opening.count
            guard
                let line = (next..<batch.count).first(where: {
                    Self.isQuoted(lines[batch.range(of: $0)].dropLast(), in: text, at: position)
                })
            else {
                missed += 1
                continue
            }
            let start = position + batch.range(of: line).count - 1 + Self.closing.count
            let end = Self.place(of: Self.nextOpening, in: text, from: start) ?? text.count
            named.append(.init(line: line, reason: Self.reason(text[start..<end])))
            position = end
            next = line + 1
        }
    }

    private static func isQuoted(
        _ line: Slice<UnsafeRawBufferPointer>, in text: UnsafeRawBufferPointer, at position: Int
    ) -> Bool {
        let end = position + line.count
        guard end + closing.count <= text.count else { return false }
        return text[position..<end].elementsEqual(line) && text[end...].starts(with: closing)
    }

    private static func place(of words: [UInt8], in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var start = start
        while start + words.count <= text.count {
            if text[start] == words[0], text[start...].starts(with: words) { return start }
            start += 1
        }
        return nil
    }

    /// The reason after a quote, without the count of dropped lines that follows the last one.
    private static func reason(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return ServerComplaint.brief(String(text[..<(ServerComplaint.droppedMark(in: text) ?? text.endIndex)]))
    }
}
