/// The request line and the fields of a request, read line by line.
struct LoopbackHead: Sendable {
    /// How the end of a body is found.
    enum Framing: Sendable {
        case length(Int)
        case chunked
    }

    let method: String
    let target: String
    let minorVersion: Int
    var headers = LoopbackHeaders()

    /// Reads a request line; every deviation from `token SP target SP version` is refused.
    init(requestLine line: ArraySlice<UInt8>) throws(LoopbackRefusal) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw .badRequest("The request line is not a method, a target and a version.")
        }
        guard !parts[0].isEmpty, parts[0].allSatisfy(\.isTokenByte) else {
            throw .badRequest("The method is not a token.")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badRequest("The target is empty or not in ASCII.")
        }
        method = String(decoding: parts[0], as: UTF8.self)
        target = String(decoding: parts[1], as: UTF8.self)
        minorVersion = try Self.minorVersion(parts[2])
    }

    private static func minorVersion(_ text: ArraySlice<UInt8>) throws(LoopbackRefusal) -> Int {
        switch String(decoding: text, as: UTF8.self) {
        case "HTTP/1.1": return 1
        case "HTTP/1.0": return 0
        default:
            let digits = text.dropFirst(5)
            let isVersion =
                text.starts(with: "HTTP/".utf8) && digits.count == 3 && digits.first?.isDigit == true
                && digits.dropFirst().first == UInt8(ascii: ".") && digits.last?.isDigit == true
            throw isVersion ? .unknownVersion : .badRequest("The version of the request line is malformed.")
        }
    }

    /// Reads one line of a header or a trailer.
    static func field(_ line: ArraySlice<UInt8>) throws(LoopbackRefusal) -> LoopbackHeaders.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .badRequest("A header line has no colon.")
        }
        let name = line[..<colon]
        // This also refuses folded lines and blanks before the colon, both of which once smuggled requests.
        guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else {
            throw .badRequest("The name of a header field is not a token.")
        }
        let value = line[(colon + 1)...].trimmingBlanks()
        return .init(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// Decides where the body ends, and refuses what two readers could understand in two ways.
    func framing(limits: LoopbackLimits) throws(LoopbackRefusal) -> Framing {
        let lengths = headers.all("Content-Length")
        let codings = headers.all("Transfer-Encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw .badRequest("Content-Length and Transfer-Encoding exclude each other.") }
            guard minorVersion >= 1 else { throw .badRequest("HTTP/1.0 has no Transfer-Encoding.") }
            return try chunkedFraming()
        }
        guard let first = lengths.first else { return .length(0) }
        guard lengths.allSatisfy({ $0 == first }) else {
            throw .badRequest("Two Content-Length fields contradict each other.")
        }
        guard !first.isEmpty, first.utf8.allSatisfy(\.isDigit), let length = Int(first) else {
            throw .badRequest("Content-Length is not a number that fits.")
        }
        guard length <= limits.bodyBytes else { throw .bodyTooLarge(limits.bodyBytes) }
        return .length(length)
    }

    private func chunkedFraming() throws(LoopbackRefusal) -> Framing {
        let codings = headers.list("Transfer-Encoding")
        let last = codings.last ?? ""
        guard last.isSameToken(as: "chunked") else {
            throw .badRequest("The last transfer coding is not chunked, so the body has no end.")
        }
        guard let other = codings.dropLast().first else { return .chunked }
        throw other.isSameToken(as: "chunked")
            ? .badRequest("The body is chunked twice.") : .unknownCoding(other)
    }

    /// Whether the client waits for a `100 Continue` before it sends the body.
    var expectsContinue: Bool {
        minorVersion >= 1 && headers.list("Expect").contains { $0.isSameToken(as: "100-continue") }
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte may be part of a method or of a field's name.
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case _ where isDigit: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }

    /// The value of a hexadecimal digit.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
