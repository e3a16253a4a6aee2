import LoaderChainPlatformFoundation

/// The beginning of a body, as the lines of a log show it.
struct PrintedBody {
    /// The lines; none for an empty body, or if bodies are not shown.
    let lines: [String]

    /// Only says that there is a body.
    static let hidden = PrintedBody(lines: ["<a body that is hidden>"])

    /// Shows at most `limit` of the bytes.
    init(_ data: Data, limit: Int) {
        self.init(beginning: data.prefix(max(limit, 0)), length: Int64(data.count))
    }

    /// Shows at most `limit` of the bytes, if the body can be read more than once.
    init(_ body: any HTTPBody, limit: Int) {
        guard limit > 0, !body.isEmpty else {
            self.init(beginning: Data(), length: 0)
            return
        }
        guard body.canBeSentAgain else {
            self.init(lines: ["<a body that can be read only once>"])
            return
        }
        do {
            let content = try body.encode()
            self.init(beginning: try Self.beginning(of: content, upTo: limit), length: content.length)
        } catch {
            self.init(lines: ["<a body that fails to encode>"])
        }
    }

    private init(lines: [String]) { self.lines = lines }

    private init(beginning: Data, length: Int64?) {
        guard !beginning.isEmpty else {
            self.init(lines: [])
            return
        }
        let rest = length.map { $0 - Int64(beginning.count) }
        guard let text = Self.text(beginning, isCut: rest != 0) else {
            self.init(lines: ["<\(length.map { "\($0)" } ?? "at least \(beginning.count)") bytes that are no text>"])
            return
        }
        // The text of a server must not look like a line of the log.
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { ASCII.printable(String($0)) }
        if let rest, rest > 0 { lines.append("… and \(rest) more bytes") }
        self.init(lines: lines)
    }

    private static func beginning(of content: HTTPBodyContent, upTo limit: Int) throws -> Data {
        var reader = content.makeReader()
        var beginning = Data()
        while beginning.count < limit, let piece = try reader.read(upTo: limit - beginning.count) {
            beginning.append(piece)
        }
        return beginning
    }

    /// The bytes as text, without a character that was cut at the end; nil if they are not text.
    private static func text(_ bytes: Data, isCut: Bool) -> String? {
        let longestCharacter = 4
        for dropped in 0..<(isCut ? longestCharacter : 1) {
            if let text = String(validating: bytes.dropLast(dropped), as: UTF8.self) { return text }
        }
        return nil
    }
}
