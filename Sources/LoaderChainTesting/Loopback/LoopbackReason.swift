/// The phrases that go with status codes.
enum LoopbackReason {
    /// The registered phrase, or one that names the number.
    static func phrase(for status: Int) -> String {
        phrases[status] ?? "Status \(status)"
    }

    private static let phrases = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed",
        413: "Content Too Large", 418: "I'm a teapot", 422: "Unprocessable Content", 425: "Too Early",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported",
    ]
}
