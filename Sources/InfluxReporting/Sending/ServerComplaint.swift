import LoaderChain
import LoaderChainPlatformFoundation

/// A server's complaint about a request, read from its answer.
///
/// Servers answer in each other's manner: InfluxDB 3 serves the paths of its forerunners, gateways answer in their own
/// words. So the body is read by its shape, and not by what the server should be:
///
/// | shape | whose |
/// |---|---|
/// | `{"error":"…"}` | InfluxDB 1 |
/// | `{"code":"…","message":"…","line":2}` | InfluxDB 2; the line is not always there |
/// | `{"error":"…","data":[{"error_message":"…","line_number":2,"original_line":"…"}]}` | InfluxDB 3 |
/// | the same with one object in place of the array | InfluxDB 3, when it stores nothing of the request |
/// | anything else | a text, as far as it is one |
package struct ServerComplaint: Sendable, Hashable {
    /// A line that the server points at.
    package struct Accusation: Sendable, Hashable {
        /// The number of the line in the request, from 1.
        package var number: Int
        /// The line as the server shows it, which need not be how it was written.
        package var text: String?
        /// What the server has against it.
        package var reason: String
    }

    /// What the server says, all of it.
    package private(set) var message: String
    /// The lines that it points at by number.
    package private(set) var accusations: [Accusation] = []
    /// Whether the body is a page for people.
    package private(set) var isPage = false
    /// Whether the body is an error in one of the shapes, about no line in particular.
    package private(set) var isError = false

    /// How much of a body is read: a server that finds every line of a batch bad quotes all of them.
    package static let greatestBody = 4 << 20

    package init(_ message: String) { self.message = message }

    /// Reads what came with a response.
    package init(in response: HTTPResponse) {
        let body = response.body.prefix(Self.greatestBody)
        let isWhole = body.count == response.body.count
        if isWhole, let known = try? JSONDecoder().decode(KnownShape.self, from: body) {
            accusations = known.accusations
            message = known.message ?? ""
            isError = known.isError && accusations.isEmpty
        } else {
            message = String(decoding: body, as: UTF8.self)
            isPage = Self.isPage(response.headers["Content-Type"], body)
        }
        if message.isEmpty { message = response.headers["X-Influxdb-Error"] ?? "" }
    }

    private static func isPage(_ type: String?, _ body: Data) -> Bool {
        type?.lowercased().contains("html") == true
            || body.first { $0 > ASCII.space && $0 < 0x80 } == UInt8(ascii: "<")
    }
}

extension ServerComplaint {
    /// What the server says, fit for one line of a log; a text of this library's where it says nothing.
    package var reason: String {
        if isPage { return "a page for people" }
        return message.isEmpty ? "no reason given" : Self.brief(message)
    }

    /// A text of a server's as something to show: not too long, and without what could break a line.
    static func brief(_ text: String) -> String {
        let longest = 1_000
        return ASCII.printable(text.count > longest ? text.prefix(longest) + "…" : text)
    }

    /// Whether the server has stored the lines that it has nothing against.
    package var isPartial: Bool {
        // What it quotes of lines comes behind a quotation mark, and could hold any words.
        preamble.contains("partial write")
    }

    /// Whether it is about what the request has besides its lines, such as the name of a database.
    package var isAboutTheRequest: Bool {
        guard accusations.isEmpty else { return false }
        let words = preamble
        return ["database is required", "bucket is required", "please provide either org", "missing query parameter"]
            .contains { words.contains($0) }
    }

    /// How many lines the server says it has dropped without quoting them.
    package var droppedCount: Int? {
        guard let mark = Self.droppedMark(in: message) else { return nil }
        return Int(message[message.index(mark, offsetBy: " dropped=".count)...]).map { max(0, $0) }
    }

    /// Where a message says how many lines were dropped, which it does at its end.
    static func droppedMark(in message: String) -> String.Index? {
        guard let space = message.lastIndex(of: " "), message[space...].hasPrefix(" dropped=") else { return nil }
        return space
    }

    /// Whether it may be about the compression of the request, which it may be for any request that is compressed.
    package var mayBeAboutCompression: Bool {
        let words = preamble
        // A server that takes the compressed bytes for lines quotes them, and a gzip stream begins with 0x1F.
        return message.contains("\u{1F}")
            || ["gzip", "compress", "encoding", "unexpected eof", "inflate", "deflate"].contains { words.contains($0) }
    }

    /// What comes before anything quoted, in small letters.
    private var preamble: String {
        message.prefix(500).prefix { $0 != "'" && $0 != "\"" && $0 != "`" }.lowercased()
    }
}

/// The known shapes, in one: nothing has to be there, and what is of another type counts as missing.
private struct KnownShape: Decodable {
    private enum Key: String, CodingKey {
        case error, message, line, data
        case errorMessage = "error_message"
        case number = "line_number"
        case text = "original_line"
    }

    struct Line: Decodable {
        let accusation: ServerComplaint.Accusation?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            accusation = (try? container.decode(Int.self, forKey: .number)).map { number in
                ServerComplaint.Accusation(
                    number: number, text: try? container.decode(String.self, forKey: .text),
                    reason: (try? container.decode(String.self, forKey: .errorMessage)) ?? "")
            }
        }
    }

    let message: String?
    /// Whether it has a key that only errors have.
    let isError: Bool
    let accusations: [ServerComplaint.Accusation]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let message =
            (try? container.decode(String.self, forKey: .message))
            ?? (try? container.decode(String.self, forKey: .error))
        self.message = message
        isError = !((try? container.decode(String.self, forKey: .error)) ?? "").isEmpty
        if let lines = try? container.decode([Line].self, forKey: .data) {
            accusations = lines.compactMap(\.accusation)
        } else if let line = try? container.decode(Line.self, forKey: .data) {
            accusations = [line.accusation].compactMap(\.self)
        } else if let line = try? container.decode(Int.self, forKey: .line), line > 0 {
            accusations = [ServerComplaint.Accusation(number: line, text: nil, reason: message ?? "")]
        } else {
            accusations = []
        }
    }
}
