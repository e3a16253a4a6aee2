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

    /// The same headers with every secret value replaced, for logs and reports.
    ///
    /// A header is secret if its name contains one of these words: auth, cookie, credential, jwt, key, password,
    /// secret, session, signature or token; and so is `X-Honeycomb-Team`, which is a key. Challenges and idempotency keys are not secret.
    public var redacted: HTTPHeaders { HTTPHeaders(fields.lazy.map { $0.redacted }) }
}

extension HTTPHeaders.Field {
    fileprivate var redacted: Self {
        HTTPHeaders.isSecret(name) ? Self(name, Redaction.text) : self
    }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// The field as a line, `Name: value`, with a secret value redacted and control characters escaped.
    public var description: String {
        "\(ASCII.printable(name)): \(ASCII.printable(redacted.value))"
    }

    /// The field for debuggers and `dump`, which show no secrets either.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "value": redacted.value], displayStyle: .struct)
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One field a line, `Name: value`, with secret values redacted and control characters escaped.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}
