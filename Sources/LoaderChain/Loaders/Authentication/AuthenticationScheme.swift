/// The differences between schemes of authentication; an ``Authorizer`` does what they have in common.
protocol AuthenticationScheme: Sendable {
    /// The credential, made of texts and numbers only, so that it may end under a lock.
    associatedtype Credential: Sendable

    /// The name of the scheme in challenges.
    static var name: String { get }

    /// How often a task whose credential was rejected is sent again with another credential.
    static var greatestReplays: Int { get }

    /// Whether a rejected credential is useless for getting the next one.
    static var forgetsRejected: Bool { get }

    /// The present, on the clock of the deadlines.
    var now: TimerInstant { get }

    /// Prepares a credential of the store or the source for sending; throws if it cannot be used.
    func prepare(_ credential: Credential) throws(AuthenticationFailure) -> PreparedCredential<Credential>

    /// Gets a credential from the source; nil if there is no source.
    func credential(replacing old: Credential?, using chain: Next) async throws -> Credential?

    /// The failure of the tasks that wait, when the source has thrown `error`.
    func failure(for error: any Error) -> AuthenticationFailure
}

struct PreparedCredential<Credential: Sendable>: Sendable {
    var credential: Credential
    var headerValue: Secret<String>
    /// When to replace it; nil if only the server knows.
    var deadline: TimerInstant?

    func isDue(at now: TimerInstant) -> Bool { deadline.map { $0 <= now } ?? false }
}

extension AuthenticationScheme {
    /// Whether the response says that another credential may be accepted.
    ///
    /// A server whose challenges are all for other schemes does not mean this credential. One that names an error other
    /// than `invalid_token` would refuse a new credential too. Many servers name no error, and do mean the credential.
    func isRejection(_ result: HTTPResult) -> Bool {
        guard let response = result.response, response.status == .unauthorized else { return false }
        // A loader further down may have turned the response into an error.
        if let code = result.error?.code, code != .invalidResponse { return false }
        let challenges = AuthenticationChallenge.all(in: response.headers)
        if challenges.isEmpty { return true }
        return challenges.contains { challenge in
            challenge.isFor(Self.name) && challenge.parameters["error"].map { $0 == "invalid_token" } ?? true
        }
    }
}

/// Why there is no credential, for the tasks that waited for one.
struct AuthenticationFailure: Error {
    var code = HTTPError.Code.authenticationFailed
    var reason: String
    var underlyingError: (any Error)?
    /// Whether the stored credential can never be used again.
    var makesStoredWorthless = false
}

/// One challenge of a server for credentials: a scheme with its parameters.
struct AuthenticationChallenge: Equatable {
    var scheme: String
    /// The parameters, by their names in lowercase.
    var parameters: [String: String] = [:]

    func isFor(_ scheme: String) -> Bool { ASCII.isEqualIgnoringCase(self.scheme, scheme) }

    static func all(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        headers.values(for: "WWW-Authenticate").flatMap(parse)
    }

    /// Reads a header's value.
    ///
    /// Commas separate the parameters of a challenge as well as challenges. An element that begins with a word and no
    /// equals sign starts a challenge. Elements that cannot be read are skipped: some challenges are better than none.
    private static func parse(_ value: String) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        for element in elements(of: value) {
            var element = element
            let (word, rest) = splitAtBlank(element)
            if ASCII.isToken(word), !rest.hasPrefix("=") {
                challenges.append(AuthenticationChallenge(scheme: String(word)))
                element = rest
            }
            guard let equals = element.firstIndex(of: "="), !challenges.isEmpty else { continue }
            let name = trimmed(element[..<equals])
            guard ASCII.isToken(name) else { continue }
            challenges[challenges.count - 1].parameters[name.lowercased()] = unquoted(
                trimmed(element[element.index(after: equals)...]))
        }
        return challenges
    }

    /// The parts between commas that are not in quotes.
    private static func elements(of value: String) -> [Substring] {
        var scanner = FieldScanner(value)
        var elements: [Substring] = []
        while !scanner.rest.isEmpty {
            let start = scanner.rest
            while let byte = scanner.rest.first, byte != UInt8(ascii: ",") {
                if scanner.take("\"") { _ = scanner.takeQuoted() } else { scanner.rest = scanner.rest.dropFirst() }
            }
            elements.append(trimmed(Substring(start[..<scanner.rest.startIndex])))
            _ = scanner.take(",")
        }
        return elements.filter { !$0.isEmpty }
    }

    private static func splitAtBlank(_ text: Substring) -> (Substring, Substring) {
        guard let blank = text.utf8.firstIndex(where: ASCII.isBlank) else { return (text, "") }
        return (text[..<blank], trimmed(text[blank...]))
    }

    private static func trimmed(_ text: Substring) -> Substring { Substring(ASCII.trimmed(text.utf8)) }

    private static func unquoted(_ text: Substring) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
        var unquoted = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.dropFirst().dropLast().unicodeScalars {
            isEscaped = scalar == "\\" && !isEscaped
            if !isEscaped { unquoted.append(scalar) }
        }
        return String(unquoted)
    }
}
