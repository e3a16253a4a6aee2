extension HTTPStatus {
    // MARK: Informational

    /// 100 Continue.
    public static let `continue` = HTTPStatus(100)
    /// 101 Switching Protocols.
    public static let switchingProtocols = HTTPStatus(101)
    /// 102 Processing.
    public static let processing = HTTPStatus(102)
    /// 103 Early Hints.
    public static let earlyHints = HTTPStatus(103)

    // MARK: Success

    /// 200 OK.
    public static let ok = HTTPStatus(200)
    /// 201 Created.
    public static let created = HTTPStatus(201)
    /// 202 Accepted.
    public static let accepted = HTTPStatus(202)
    /// 203 Non-Authoritative Information.
    public static let nonAuthoritativeInformation = HTTPStatus(203)
    /// 204 No Content.
    public static let noContent = HTTPStatus(204)
    /// 205 Reset Content.
    public static let resetContent = HTTPStatus(205)
    /// 206 Partial Content.
    public static let partialContent = HTTPStatus(206)
    /// 207 Multi-Status.
    public static let multiStatus = HTTPStatus(207)
    /// 208 Already Reported.
    public static let alreadyReported = HTTPStatus(208)
    /// 226 IM Used.
    public static let imUsed = HTTPStatus(226)

    // MARK: Redirection

    /// 300 Multiple Choices.
    public static let multipleChoices = HTTPStatus(300)
    /// 301 Moved Permanently.
    public static let movedPermanently = HTTPStatus(301)
    /// 302 Found.
    public static let found = HTTPStatus(302)
    /// 303 See Other.
    public static let seeOther = HTTPStatus(303)
    /// 304 Not Modified.
    public static let notModified = HTTPStatus(304)
    /// 305 Use Proxy.
    public static let useProxy = HTTPStatus(305)
    /// 307 Temporary Redirect.
    public static let temporaryRedirect = HTTPStatus(307)
    /// 308 Permanent Redirect.
    public static let permanentRedirect = HTTPStatus(308)

    // MARK: Client errors

    /// 400 Bad Request.
    public static let badRequest = HTTPStatus(400)
    /// 401 Unauthorized.
    public static let unauthorized = HTTPStatus(401)
    /// 402 Payment Required.
    public static let paymentRequired = HTTPStatus(402)
    /// 403 Forbidden.
    public static let forbidden = HTTPStatus(403)
    /// 404 Not Found.
    public static let notFound = HTTPStatus(404)
    /// 405 Method Not Allowed.
    public static let methodNotAllowed = HTTPStatus(405)
    /// 406 Not Acceptable.
    public static let notAcceptable = HTTPStatus(406)
    /// 407 Proxy Authentication Required.
    public static let proxyAuthenticationRequired = HTTPStatus(407)
    /// 408 Request Timeout.
    public static let requestTimeout = HTTPStatus(408)
    /// 409 Conflict.
    public static let conflict = HTTPStatus(409)
    /// 410 Gone.
    public static let gone = HTTPStatus(410)
    /// 411 Length Required.
    public static let lengthRequired = HTTPStatus(411)
    /// 412 Precondition Failed.
    public static let preconditionFailed = HTTPStatus(412)
    /// 413 Content Too Large.
    public static let contentTooLarge = HTTPStatus(413)
    /// 414 URI Too Long.
    public static let uriTooLong = HTTPStatus(414)
    /// 415 Unsupported Media Type.
    public static let unsupportedMediaType = HTTPStatus(415)
    /// 416 Range Not Satisfiable.
    public static let rangeNotSatisfiable = HTTPStatus(416)
    /// 417 Expectation Failed.
    public static let expectationFailed = HTTPStatus(417)
    /// 421 Misdirected Request.
    public static let misdirectedRequest = HTTPStatus(421)
    /// 422 Unprocessable Content.
    public static let unprocessableContent = HTTPStatus(422)
    /// 423 Locked.
    public static let locked = HTTPStatus(423)
    /// 424 Failed Dependency.
    public static let failedDependency = HTTPStatus(424)
    /// 425 Too Early.
    public static let tooEarly = HTTPStatus(425)
    /// 426 Upgrade Required.
    public static let upgradeRequired = HTTPStatus(426)
    /// 428 Precondition Required.
    public static let preconditionRequired = HTTPStatus(428)
    /// 429 Too Many Requests.
    public static let tooManyRequests = HTTPStatus(429)
    /// 431 Request Header Fields Too Large.
    public static let requestHeaderFieldsTooLarge = HTTPStatus(431)
    /// 451 Unavailable For Legal Reasons.
    public static let unavailableForLegalReasons = HTTPStatus(451)

    // MARK: Server errors

    /// 500 Internal Server Error.
    public static let internalServerError = HTTPStatus(500)
    /// 501 Not Implemented.
    public static let notImplemented = HTTPStatus(501)
    /// 502 Bad Gateway.
    public static let badGateway = HTTPStatus(502)
    /// 503 Service Unavailable.
    public static let serviceUnavailable = HTTPStatus(503)
    /// 504 Gateway Timeout.
    public static let gatewayTimeout = HTTPStatus(504)
    /// 505 HTTP Version Not Supported.
    public static let httpVersionNotSupported = HTTPStatus(505)
    /// 506 Variant Also Negotiates.
    public static let variantAlsoNegotiates = HTTPStatus(506)
    /// 507 Insufficient Storage.
    public static let insufficientStorage = HTTPStatus(507)
    /// 508 Loop Detected.
    public static let loopDetected = HTTPStatus(508)
    /// 510 Not Extended.
    public static let notExtended = HTTPStatus(510)
    /// 511 Network Authentication Required.
    public static let networkAuthenticationRequired = HTTPStatus(511)
}

extension HTTPStatus {
    /// The reason phrase, such as `Not Found` for 404; empty if the code is not registered.
    public var reasonPhrase: String {
        switch rawValue {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 102: "Processing"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 207: "Multi-Status"
        case 208: "Already Reported"
        case 226: "IM Used"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 305: "Use Proxy"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 423: "Locked"
        case 424: "Failed Dependency"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 506: "Variant Also Negotiates"
        case 507: "Insufficient Storage"
        case 508: "Loop Detected"
        case 510: "Not Extended"
        case 511: "Network Authentication Required"
        default: ""
        }
    }
}
