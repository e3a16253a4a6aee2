import LoaderChain
import LoaderChainPlatformFoundation

extension LoopbackReply {
    /// A 200 with a text.
    public static func ok(_ text: String = "") -> Self { .text(text, status: .ok) }

    /// A 200 with a body.
    public static func ok(_ body: Data) -> Self { Self(.ok, body: .bytes(body)) }

    /// A 200 with a JSON text.
    public static func json(_ text: String) -> Self {
        Self(.ok, headers: ["Content-Type": "application/json"], body: .bytes(Data(text.utf8)))
    }

    /// A text with a status.
    public static func text(_ text: String, status: HTTPStatus) -> Self {
        Self(status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Data(text.utf8)))
    }

    /// A status and no body.
    public static func status(_ status: HTTPStatus, reason: String? = nil) -> Self {
        Self(status, reason: reason)
    }

    /// A 200 with one chunk per text, followed by trailers.
    public static func chunks(_ texts: [String], trailers: HTTPHeaders = [:]) -> Self {
        Self(
            .ok, headers: ["Content-Type": "text/plain; charset=utf-8"],
            body: .chunks(texts.map { Data($0.utf8) }, trailers: trailers))
    }

    /// A 200 whose body is the body of the request.
    public static func echo(_ request: LoopbackRequest) -> Self {
        let type = request.headers["Content-Type"] ?? "application/octet-stream"
        return Self(.ok, headers: ["Content-Type": type], body: .bytes(request.body))
    }

    /// A 200 whose body is the whole request, byte for byte.
    public static func rawEcho(_ request: LoopbackRequest) -> Self {
        Self(.ok, headers: ["Content-Type": "message/http"], body: .bytes(request.raw))
    }

    /// A redirect to a path or to an absolute address, sent unchanged.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> Self {
        Self(status, headers: ["Location": location])
    }

    /// A redirect to an absolute address, such as one of another server.
    public static func redirect(to url: URL, status: HTTPStatus = .found) -> Self {
        redirect(to: url.absoluteString, status: status)
    }

    /// A 401 with a challenge, sent unchanged.
    public static func unauthorized(challenge: String) -> Self {
        Self(.unauthorized, headers: ["WWW-Authenticate": challenge])
    }

    /// A 401 that asks for a user name and a password.
    public static func unauthorized(basic realm: String) -> Self {
        unauthorized(challenge: "Basic realm=\(quoted(realm))")
    }

    /// A 401 that asks for a token.
    public static func unauthorized(bearer realm: String) -> Self {
        unauthorized(challenge: "Bearer realm=\(quoted(realm))")
    }

    /// A 429 with `Retry-After` in seconds.
    public static func tooManyRequests(retryAfter seconds: Int) -> Self {
        Self(.tooManyRequests, headers: ["Retry-After": String(seconds)])
    }

    /// A 429 with `Retry-After` as a date.
    public static func tooManyRequests(retryAt date: Date) -> Self {
        Self(.tooManyRequests, headers: ["Retry-After": HTTPDate.text(date)])
    }

    /// A 503, with `Retry-After` in seconds if you give them.
    public static func unavailable(retryAfter seconds: Int? = nil) -> Self {
        Self(.serviceUnavailable, headers: seconds.map { ["Retry-After": String($0)] } ?? [:])
    }

    /// A 503 with `Retry-After` as a date.
    public static func unavailable(retryAt date: Date) -> Self {
        Self(.serviceUnavailable, headers: ["Retry-After": HTTPDate.text(date)])
    }

    /// Bytes instead of a reply, after which the server closes the connection.
    public static func verbatim(_ bytes: Data) -> Self { Self(.ok, body: .verbatim(bytes)) }

    /// A text instead of a reply, after which the server closes the connection.
    public static func verbatim(_ text: String) -> Self { verbatim(Data(text.utf8)) }

    /// No reply: the server closes the connection without sending a byte.
    public static func hangUp() -> Self { Self(.ok).hangingUp(at: .start) }

    /// No reply: the server resets the connection.
    public static func abort() -> Self { Self(.ok).aborting(at: .start) }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        return "\"\(escaped.joined())\""
    }
}
