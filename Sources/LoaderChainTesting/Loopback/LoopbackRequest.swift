import LoaderChain
import LoaderChainPlatformFoundation

/// A request as a ``LoopbackServer`` received it, parsed and byte for byte.
public struct LoopbackRequest: Sendable, Hashable {
    /// The method as sent, such as `GET`.
    public let method: HTTPMethod
    /// The target of the request line as sent, such as `/search?q=a`.
    public let target: String
    /// The minor version of HTTP/1: `1` for HTTP/1.1, `0` for HTTP/1.0.
    public let minorVersion: Int
    /// The header fields, in order.
    public let headers: HTTPHeaders
    /// The fields that followed a chunked body.
    public let trailers: HTTPHeaders
    /// The bytes of the body, without the framing of chunks.
    public let body: Data
    /// Every byte of the request in the order of arrival: head, body, and the framing of chunks.
    public let raw: Data
    /// The number of the connection that carried the request, counted from one.
    public let connection: Int

    /// The path of the target, still percent-encoded and without the query.
    public var path: String { String(originForm.prefix { $0 != "?" }) }

    /// The part of the target after the first `?`; nil if there is none.
    public var query: String? {
        guard let mark = originForm.firstIndex(of: "?") else { return nil }
        return String(originForm[originForm.index(after: mark)...])
    }

    /// The body decoded as UTF-8, with invalid bytes replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Whether the client wants to keep the connection alive after the reply; never with HTTP/1.0, whose way of asking is no longer used.
    var keepsAlive: Bool {
        minorVersion >= 1 && !headers.list(for: "Connection", contains: "close")
    }

    /// The target without the scheme and the host that a request to a proxy carries.
    private var originForm: Substring {
        let scheme = ["http://", "https://"].first {
            ASCII.isEqualIgnoringCase(String(target.prefix($0.count)), $0)
        }
        guard let scheme else { return target[...] }
        let rest = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
        return rest.first == "/" ? rest : "/" + rest
    }
}

/// The request line and the header fields of a request, parsed line by line.
struct LoopbackHead: Sendable {
    /// How the end of a body is found.
    enum Framing: Sendable {
        case length(Int)
        case chunked
    }

    let method: HTTPMethod
    let target: String
    let minorVersion: Int
    var headers = HTTPHeaders()

    /// Parses a request line; every deviation from `token SP target SP version` is refused.
    init(requestLine line: ArraySlice<UInt8>) throws(LoopbackRefusal) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw .badRequest("The request line is not a method, a target and a version.")
        }
        guard !parts[0].isEmpty, parts[0].allSatisfy(ASCIISet.token.contains) else {
            throw .badRequest("The method is not a token.")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badRequest("The target is empty or not in ASCII.")
        }
        method = HTTPMethod(String(decoding: parts[0], as: UTF8.self))
        target = String(decoding: parts[1], as: UTF8.self)
        minorVersion = try Self.minorVersion(parts[2])
    }

    private static func minorVersion(_ text: ArraySlice<UInt8>) throws(LoopbackRefusal) -> Int {
        switch String(decoding: text, as: UTF8.self) {
        case "HTTP/1.1": return 1
        case "HTTP/1.0": return 0
        default:
            let digits = text.dropFirst(5).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let isVersion =
                text.starts(with: "HTTP/".utf8) && digits.count == 2
                && digits.allSatisfy { $0.count == 1 && $0.allSatisfy(ASCII.isDigit) }
            throw isVersion ? .unknownVersion : .badRequest("The version of the request line is malformed.")
        }
    }

    static func field(_ line: ArraySlice<UInt8>) throws(LoopbackRefusal) -> HTTPHeaders.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .badRequest("A header line has no colon.")
        }
        let name = line[..<colon]
        // This also refuses folded lines and spaces before the colon, both of which have been used for request smuggling.
        guard !name.isEmpty, name.allSatisfy(ASCIISet.token.contains) else {
            throw .badRequest("The name of a header field is not a token.")
        }
        let value = ASCII.trimmed(line[(colon + 1)...])
        return .init(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// Decides where the body ends, and refuses anything that two readers could understand differently.
    func framing(limits: LoopbackLimits) throws(LoopbackRefusal) -> Framing {
        let lengths = headers.values(for: "Content-Length")
        let codings = headers.values(for: "Transfer-Encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw .badRequest("Content-Length and Transfer-Encoding exclude each other.") }
            guard minorVersion >= 1 else { throw .badRequest("HTTP/1.0 has no Transfer-Encoding.") }
            return try chunkedFraming()
        }
        guard let first = lengths.first else { return .length(0) }
        guard lengths.allSatisfy({ $0 == first }) else {
            throw .badRequest("Two Content-Length fields contradict each other.")
        }
        guard !first.isEmpty, first.utf8.allSatisfy(ASCII.isDigit), let length = Int(first) else {
            throw .badRequest("Content-Length is not a number that fits.")
        }
        guard length <= limits.bodyBytes else { throw .bodyTooLarge(limits.bodyBytes) }
        return .length(length)
    }

    private func chunkedFraming() throws(LoopbackRefusal) -> Framing {
        let codings = headers.list(for: "Transfer-Encoding")
        guard let last = codings.last, isChunked(last) else {
            throw .badRequest("The last transfer coding is not chunked, so the body has no end.")
        }
        guard let other = codings.dropLast().first else { return .chunked }
        throw isChunked(other) ? .badRequest("The body is chunked twice.") : .unknownCoding(other)
    }

    private func isChunked(_ coding: String) -> Bool { ASCII.isEqualIgnoringCase(coding, "chunked") }

    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool {
        minorVersion >= 1 && headers.list(for: "Expect", contains: "100-continue")
    }
}

/// The reason why a request was refused before any route saw it.
package struct LoopbackRefusal: Error, Sendable, Hashable {
    package let status: HTTPStatus
    /// The sentence in the body of the response.
    package let explanation: String

    static func badRequest(_ explanation: String) -> Self {
        Self(status: .badRequest, explanation: explanation)
    }

    static func headTooLarge(_ limit: Int) -> Self {
        Self(
            status: .requestHeaderFieldsTooLarge, explanation: "The head or the trailer is longer than \(limit) bytes.")
    }

    static func bodyTooLarge(_ limit: Int) -> Self {
        Self(status: .contentTooLarge, explanation: "The body is longer than \(limit) bytes.")
    }

    static func unknownCoding(_ coding: String) -> Self {
        Self(status: .notImplemented, explanation: "The transfer coding \(coding) is not implemented.")
    }

    static let unknownVersion = Self(
        status: .httpVersionNotSupported, explanation: "This server speaks HTTP/1.0 and HTTP/1.1.")
}
