import LoaderChainPlatformFoundation

extension HTTPHeaders {
    /// Throws for the first header that must not be sent.
    ///
    /// A name is a token of RFC 9110. A value contains no control character except the tab: a line break would let the
    /// author of the value add headers. Bytes outside ASCII are allowed in values.
    public func validate() throws(Invalid) {
        for (index, field) in fields.enumerated() {
            if let fault = field.fault(at: index) {
                throw Invalid(index: index, name: field.soundName, reason: fault)
            }
        }
    }

    /// A header that must not be sent, and why.
    ///
    /// The text quotes no value, and a broken name only up to the fault: a whole line that was passed as a name
    /// (`Authorization: Bearer …`) has its secret behind the fault.
    public struct Invalid: Error, Hashable, Sendable {
        /// The position of the field among the headers.
        public let index: Int

        /// The header's name, up to the fault if it has one.
        public let name: String

        /// The header, its fault and what to do about it, as a sentence.
        public let reason: String
    }
}

extension HTTPHeaders.Invalid: CustomStringConvertible, LocalizedError {
    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, which `localizedDescription` shows.
    public var errorDescription: String? { reason }
}

extension HTTPHeaders.Field {
    /// What is wrong with the field; nil if it may be sent.
    fileprivate func fault(at index: Int) -> String? {
        if name.isEmpty { return "Header number \(index + 1) has an empty name; give it a name or leave it out." }
        for (offset, byte) in name.utf8.enumerated() where !ASCIISet.token.contains(byte) {
            return """
                The name of header number \(index + 1), which begins with “\(soundName)”, has \(ASCII.spoken(byte)) at \
                byte \(offset); use only letters, digits and \(ASCIISet.tokenMarks).
                """
        }
        for (offset, byte) in value.utf8.enumerated() where ASCII.isForbiddenInValue(byte) {
            return """
                The value of the header “\(name)” has \(ASCII.spoken(byte)) at byte \(offset), where the header would \
                break; take it out, or encode the value.
                """
        }
        return nil
    }

    /// The name up to its first fault: a whole line that was passed as a name (`Authorization: Bearer …`) has its secret behind that.
    fileprivate var soundName: String {
        String(decoding: name.utf8.prefix(while: ASCIISet.token.contains), as: UTF8.self)
    }
}

extension HTTPHeaders {
    private static let secretWords = [
        "auth", "cookie", "credential", "honeycomb-team", "jwt", "key", "passw", "secret", "session", "signature",
        "token",
    ]
    private static let harmlessNames = ["WWW-Authenticate", "Proxy-Authenticate", "Idempotency-Key"]

    /// Whether the header of that name has a value that must not be logged.
    package static func isSecret(_ name: String) -> Bool {
        secretWords.contains { ASCII.contains(name, lowercase: $0) }
            && !harmlessNames.contains { ASCII.isEqualIgnoringCase($0, name) }
    }

    /// The headers that depend on the exact bytes of a body.
    package static let namesAboutBytes = ["Content-Encoding", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest"]

    private static let addressNames = ["Location", "Content-Location", "Referer", "Refresh"]

    /// The bytes that end a URL in the header of that name; nil if its value holds none.
    fileprivate static func endsOfURLs(in name: String) -> ASCIISet? {
        if ASCII.isEqualIgnoringCase(name, "Link") { return ASCIISet(">\"") }
        return addressNames.contains { ASCII.isEqualIgnoringCase($0, name) } ? ASCIISet("") : nil
    }

    /// The same headers with every secret value replaced, for logs and reports.
    ///
    /// A header is secret if its name contains one of these words: auth, cookie, credential, jwt, key, password, secret,
    /// session, signature or token; `X-Honeycomb-Team`, which is a key, is secret too. Challenges and idempotency keys are not
    /// secret. The URLs in `Location`, `Content-Location`, `Link`, `Referer` and `Refresh` lose credentials, the values of their
    /// queries, and fragments.
    public var redacted: HTTPHeaders { HTTPHeaders(fields.lazy.map { $0.redacted }) }
}

extension HTTPHeaders.Field {
    fileprivate var redacted: Self {
        if HTTPHeaders.isSecret(name) { return Self(name, Redaction.text) }
        guard let ends = HTTPHeaders.endsOfURLs(in: name) else { return self }
        return Self(name, Redaction.urls(in: value, endingAt: ends))
    }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// The field as a line, `Name: value`, with a secret value redacted and control characters escaped.
    public var description: String {
        "\(loggableName): \(ASCII.printable(redacted.value))"
    }

    /// The name as a log may have it; of a broken one, what comes before the fault.
    var loggableName: String { soundName == name ? name : soundName + "…" }

    /// The field for debuggers and `dump`, which show no secrets either.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": loggableName, "value": redacted.value], displayStyle: .struct)
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One field a line, `Name: value`, with secret values redacted and control characters escaped.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}
