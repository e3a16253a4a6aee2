import LoaderChainPlatformFoundation

/// A link of a response to something else (RFC 8288), as in `Link: <https://example.com/users?page=2>; rel="next"`.
public struct WebLink: Hashable, Sendable {
    /// The target, as the server has written it; it may be relative.
    public var target: String

    /// The relations of the target, in lower case: `next`, `prev`, or a URL for a relation that is not registered.
    public var relations: [String]

    /// The other parameters, such as `title` and `type`, with their names in lower case.
    ///
    /// Of a name that occurs more than once, the first value counts.
    public var parameters: [String: String]

    /// Makes a link, as a test does.
    public init(target: String, relations: [String], parameters: [String: String] = [:]) {
        self.target = target
        self.relations = relations
        self.parameters = parameters
    }
}

extension HTTPResponse {
    /// The links of the response's `Link` headers, in their order; invalid links are skipped.
    public var links: [WebLink] { headers.values(for: "Link").flatMap { FieldScanner.links(in: $0) } }

    /// The target of the first link with a relation, resolved against the address of the response; nil if there is none.
    ///
    /// ```swift
    /// let response = try await chain.load(request)
    /// if let next = response.link("next") { print(next) }
    /// ```
    ///
    /// A link with an `anchor`, which is about something else than the response, does not count.
    public func link(_ relation: String) -> URL? {
        links(relation).lazy.compactMap { address(of: $0) }.first
    }

    /// The links with a relation that are about this response, also those whose target is no address.
    func links(_ relation: String) -> [WebLink] {
        let relation = relation.lowercased()
        return links.filter { $0.relations.contains(relation) && isAboutThis($0) }
    }

    private func address(of link: WebLink) -> URL? {
        request.url.flatMap { URL(string: link.target, relativeTo: $0)?.absoluteURL }
    }

    private func isAboutThis(_ link: WebLink) -> Bool {
        guard let anchor = link.parameters["anchor"] else { return true }
        guard let base = request.url?.absoluteURL else { return false }
        return URL(string: anchor, relativeTo: base)?.absoluteURL == base
    }
}

/// Reads the links of one `Link` header (RFC 8288, section 3 and appendix B).
extension FieldScanner {
    /// The links of a value; an invalid link is skipped up to the next comma.
    fileprivate static func links(in value: String) -> [WebLink] {
        var parser = FieldScanner(value)
        var links: [WebLink] = []
        while !parser.rest.isEmpty {
            parser.skipBlanks()
            if let link = parser.link() { links.append(link) }
            parser.skipToComma()
        }
        return links
    }

    private mutating func link() -> WebLink? {
        guard take("<") else { return nil }
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
            // Nothing ends here any more, and looking again from each comma would take quadratic time.
            rest = rest.suffix(0)
            return nil
        }
        let target = String(decoding: ASCII.trimmed(rest[..<end]), as: UTF8.self)
        rest = rest[end...].dropFirst()
        var parameters: [String: String] = [:]
        skipBlanks()
        while take(";") {
            skipBlanks()
            if let (name, value) = parameter(), parameters[name] == nil { parameters[name] = value }
            skipBlanks()
        }
        let relations = parameters.removeValue(forKey: "rel") ?? ""
        return WebLink(
            target: target, relations: relations.split(whereSeparator: \.isWhitespace).map { $0.lowercased() },
            parameters: parameters)
    }

    private mutating func parameter() -> (name: String, value: String)? {
        let name = take(while: ASCIISet.token.contains)
        skipBlanks()
        var value = ""
        if take("=") {
            skipBlanks()
            value = take("\"") ? takeQuoted() : bare()
        }
        return name.isEmpty ? nil : (String(decoding: name, as: UTF8.self).lowercased(), value)
    }

    /// A value without quotes; it should be a token, and ends where the next parameter or link begins.
    private mutating func bare() -> String {
        let value = take { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        return String(decoding: ASCII.trimmed(value), as: UTF8.self)
    }

    /// Skips what follows a link, or is none, up to the comma that separates it from the next one.
    private mutating func skipToComma() {
        while let byte = rest.first, byte != UInt8(ascii: ",") {
            if take("\"") {
                _ = takeQuoted()
            } else if byte == UInt8(ascii: "<") {
                rest = rest.firstIndex(of: UInt8(ascii: ">")).map { rest[$0...].dropFirst() } ?? rest.suffix(0)
            } else {
                rest = rest.dropFirst()
            }
        }
        rest = rest.dropFirst()
    }
}
