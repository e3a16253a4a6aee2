import LoaderChainPlatformFoundation

/// Reads events from the bytes of a stream, by the rules of the HTML standard.
///
/// An event is returned when the empty line after it has arrived, even if that line ends with a carriage return and the line feed to
/// it has not come yet. What the stream ends in the middle of is no event.
struct EventParser: Sendable {
    /// The identifier of the last event, which a request to go on from there names.
    private(set) var lastID: String

    /// How long the server wants clients to wait before they connect again, if it has said so.
    private(set) var reconnectionTime: Duration?

    private let limit: Int
    private var lines: LineBuffer
    private var isAtFirstLine = true

    // The event that is being read. Its data has a line feed after each line.
    private var data: [UInt8] = []
    private var type = ""
    private var id: String

    /// Makes a parser for a new stream.
    ///
    /// - Parameters:
    ///   - lastID: what events have as their identifier until the stream names another one.
    ///   - limit: the most bytes of a line, and of the data of an event.
    init(lastID: String = "", limit: Int) {
        self.lastID = lastID
        self.limit = limit
        id = lastID
        lines = LineBuffer(ends: .lineFeedOrCarriageReturn, limit: limit)
    }

    /// Adds the next bytes.
    mutating func append(_ piece: Data) { lines.append(piece) }

    /// Returns the next event, or nil if more bytes are needed.
    mutating func next() throws(LineBuffer.LineTooLong) -> ServerSentEvent? {
        while var line = try lines.next() {
            if isAtFirstLine {
                isAtFirstLine = false
                if line.starts(with: Self.byteOrderMark) { line = line.dropFirst(Self.byteOrderMark.count) }
            }
            if !line.isEmpty {
                try takeField(line)
            } else if let event = dispatch() {
                return event
            }
        }
        return nil
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private mutating func takeField(_ line: ArraySlice<UInt8>) throws(LineBuffer.LineTooLong) {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == ASCII.space { value = value.dropFirst() }
        // A name of no bytes is that of a comment.
        let name = line[..<colon]
        if name.elementsEqual("data".utf8) {
            guard value.count < limit - data.count || data.isEmpty else { throw LineBuffer.LineTooLong(limit: limit) }
            data.append(contentsOf: value)
            data.append(ASCII.lineFeed)
        } else if name.elementsEqual("event".utf8) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(ASCII.nul) { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8) {
            if let time = Self.milliseconds(value) { reconnectionTime = time }
        }
    }

    /// Ends the event; nil if it has no data.
    private mutating func dispatch() -> ServerSentEvent? {
        lastID = id
        defer { type = "" }
        guard !data.isEmpty else { return nil }
        let text = String(decoding: data.dropLast(), as: UTF8.self)
        data.removeAll(keepingCapacity: true)
        return ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: id)
    }

    /// A time of digits alone; one that is longer than any stream lives is shortened.
    private static func milliseconds(_ digits: ArraySlice<UInt8>) -> Duration? {
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        let longest: Int64 = 1 << 40
        let time = digits.reduce(into: Int64(0)) { time, digit in
            time = min(longest, time * 10 + Int64(digit - UInt8(ascii: "0")))
        }
        return .milliseconds(time)
    }
}
