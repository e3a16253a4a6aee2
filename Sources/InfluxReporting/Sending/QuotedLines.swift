import LoaderChainPlatformFoundation

/// The lines that InfluxDB 1 and 2 quote: `unable to parse '…': reason`, one line of text each, in the order of the lines.
struct QuotedLines {
    private(set) var named: [ComplaintMatch.Named] = []
    /// How many quotes are of no line that could be found.
    private(set) var missed = 0

    // What a line holds can look like any part of the message, so lines are looked for as a whole, from the last one found
    // on. A quote that is of no line makes the search go through all of them, which is not done for ever.
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

    /// The words behind a quote, without what is said of the whole request behind the last one.
    private static func reason(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return ServerComplaint.brief(String(text[..<(ServerComplaint.droppedMark(in: text) ?? text.endIndex)]))
    }
}
