import LoaderChain
import LoaderChainPlatformFoundation

/// A server's complaint about a request, parsed from its response.
///
/// Servers imitate each other: InfluxDB 3 serves the paths of its predecessors, and gateways have messages of their own. So the
/// body is parsed by its shape, whatever the server is expected to be:
///
/// | shape | server |
/// |---|---|
/// | `{"error":"…"}` | InfluxDB 1 |
/// | `{"code":"…","message":"…","line":2}` | InfluxDB 2; the line is optional |
/// | `{"error":"…","data":[{"error_message":"…","line_number":2,"original_line":"…"}]}` | InfluxDB 3 |
/// | the same with one object instead of the array | InfluxDB 3, if it stores nothing of the request |
/// | anything else | any; parsed as text |
package struct ServerComplaint: Sendable, Hashable {
    /// A line that the server complains about by its number.
    package struct Accusation: Sendable, Hashable {
        /// The number of the line in the request, from 1.
        package var number: Int
        /// The line as the server shows it, which can differ from the line that was sent.
        package var text: String?
        package var reason: String
    }

    /// The complete message of the server.
    package private(set) var message: String
    package private(set) var accusations: [Accusation] = []
    /// Whether the body is an HTML page.
    package private(set) var isPage = false
    /// Whether the body is an error in one of the shapes, without line numbers.
    package private(set) var isError = false

    /// The maximum number of bytes parsed; large, because a server that rejects every line of a batch quotes all of them.
    package static let greatestBody = 4 << 20

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
    /// The server's message in one line of limited length, or a substitute if there is none.
    package var reason: String {
        if isPage { return "an HTML page" }
        return message.isEmpty ? "no reason given" : Self.brief(message)
    }

    /// A server's text in one line of limited length.
    static func brief(_ text: String) -> String {
        let longest = 1_000
        return ASCII.printable(text.count > longest ? text.prefix(longest) + "…" : text)
    }

    /// Whether the server has stored the lines that it does not complain about.
    package var isPartial: Bool {
        // Only the text before the first quotation mark, because a quoted line can contain any words.
        preamble.contains("partial write")
    }

    /// Whether the complaint is about the request's parameters, such as the database, and not about its lines.
    package var isAboutTheRequest: Bool {
        guard accusations.isEmpty else { return false }
        let words = preamble
        return ["database is required", "bucket is required", "please provide either org", "missing query parameter"]
            .contains { words.contains($0) }
    }

    /// The number of lines that the server says it has dropped without quoting them.
    package var droppedCount: Int? {
        guard let mark = Self.droppedMark(in: message) else { return nil }
        return Int(message[message.index(mark, offsetBy: " dropped=".count)...]).map { max(0, $0) }
    }

    /// The index at which a message ends with the number of dropped lines.
    static func droppedMark(in message: String) -> String.Index? {
        guard let space = message.lastIndex(of: " "), message[space...].hasPrefix(" dropped=") else { return nil }
        return space
    }

    package var mayBeAboutCompression: Bool {
        let words = preamble
        // A server that reads the compressed bytes as lines quotes them, and a gzip stream begins with 0x1F.
        return message.contains("\u{1F}")
            || ["gzip", "compress", "encoding", "unexpected eof", "inflate", "deflate"].contains { words.contains($0) }
    }

    /// The text before the first quotation mark, in lowercase.
    private var preamble: String {
        message.prefix(500).prefix { $0 != "'" && $0 != "\"" && $0 != "`" }.lowercased()
    }
}

/// The union of the known shapes: every key is optional, and a value of another type counts as missing.
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
    /// Whether it has the key `error`, which only errors have.
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
