/// What the status of a response means for the request that it answers, to a client whose data must arrive.
///
/// This is the one table of statuses for everything that delivers. A sender decides what to do in each of these few
/// cases, and adds what is special about its server, such as a complaint about one line in a body.
///
/// | Status | Meaning |
/// |---|---|
/// | 2xx | accepted |
/// | 1xx, 3xx, and numbers outside 100…599 | unexpected |
/// | 401 Unauthorized, 407 Proxy Authentication Required | unauthorized |
/// | 408 Request Timeout, 409 Conflict, 421 Misdirected Request, 423 Locked, 425 Too Early | unavailable |
/// | 429 Too Many Requests | overloaded |
/// | 413 Content Too Large | tooLarge |
/// | 415 Unsupported Media Type | unsupportedEncoding |
/// | 400 Bad Request, 406 Not Acceptable, 422 Unprocessable Content | malformed |
/// | any other 4xx, 501 Not Implemented, 505 HTTP Version Not Supported | refused |
/// | any other 5xx | unavailable |
package enum StatusMeaning: Hashable, Sendable, CaseIterable {
    /// The server has taken the request.
    case accepted
    /// The server neither took the request nor refused it, as a redirect that was not followed, or a login page's.
    case unexpected
    /// The server wants other credentials; the same content may be accepted with them.
    case unauthorized
    /// The server cannot take the request now; send it again later.
    case unavailable
    /// The server wants fewer requests; send it again later, and slow down.
    case overloaded
    /// The content is larger than the server takes; send it in smaller pieces.
    case tooLarge
    /// The server does not read the content's type or coding; send it in another one.
    case unsupportedEncoding
    /// The server understands the request and finds its content wrong.
    case malformed
    /// The server will never take the request, whatever its content.
    case refused

    package init(_ status: HTTPStatus) {
        switch status.rawValue {
        case 200..<300: self = .accepted
        case 401, 407: self = .unauthorized
        case 408, 409, 421, 423, 425: self = .unavailable
        case 429: self = .overloaded
        case 413: self = .tooLarge
        case 415: self = .unsupportedEncoding
        case 400, 406, 422: self = .malformed
        case 400..<500, 501, 505: self = .refused
        case 500..<600: self = .unavailable
        default: self = .unexpected
        }
    }

    /// Whether the same request may be accepted later, without a change of its content.
    package var isWorthRepeating: Bool {
        switch self {
        case .unexpected, .unauthorized, .unavailable, .overloaded: true
        case .accepted, .tooLarge, .unsupportedEncoding, .malformed, .refused: false
        }
    }
}

extension HTTPStatus {
    /// Whether the server may well answer otherwise within seconds, so that a request is worth trying again while its
    /// caller waits.
    ///
    /// There are fewer of these than of statuses that are worth repeating: a request that needs other credentials,
    /// another connection or the end of a lock does not succeed a moment later.
    var isTransient: Bool {
        switch rawValue {
        case 408, 429, 500, 502, 503, 504: true
        default: false
        }
    }
}
