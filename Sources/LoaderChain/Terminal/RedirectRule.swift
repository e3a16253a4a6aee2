import LoaderChainPlatformFoundation

/// How a redirect changes a request, as RFC 9110 and the browsers have it.
package enum RedirectRule {
    /// The request that follows a redirect; nil for a response that is not a redirect, or whose address is not usable.
    ///
    /// - A 303 is followed by GET. So is a 301 or 302 in response to POST, as in every browser.
    /// - A 307 or 308 repeats the request unchanged.
    /// - A user and a password in the location are left out.
    /// - A location without a host, or with a scheme other than HTTP's, is not followed.
    package static func next(after status: HTTPStatus, location: String?, from request: HTTPRequest) -> HTTPRequest? {
        guard [301, 302, 303, 307, 308].contains(status.rawValue), let location, let current = request.url,
            let target = URL(string: location, relativeTo: current)?.absoluteURL.standardized,
            let scheme = target.scheme?.lowercased(), ["http", "https"].contains(scheme),
            target.host(percentEncoded: true)?.isEmpty == false
        else { return nil }

        var next = request
        next.url = target
        next.setUserInfo(nil)
        next.scheme = scheme
        // The fragment is kept unless the location has its own (RFC 9110, 10.2.2).
        if next.fragment == nil { next.fragment = request.fragment }
        if becomesGet(request.method, after: status) {
            next.method = .get
            next.body = EmptyBody()
            for name in bodyHeaders { next.headers.remove(name) }
        }
        if !next.isForServer(of: request) {
            for name in Set(next.headers.map(\.name)) where HTTPHeaders.isSecret(name) { next.headers.remove(name) }
            // It names the previous host.
            next.headers.remove("Host")
            next.noteChosenServer()
            next.removeTraceFromForeignHost()
        }
        return next
    }

    package static func isDowngrade(from request: HTTPRequest, to next: HTTPRequest) -> Bool {
        request.scheme.lowercased() == "https" && next.scheme.lowercased() != "https"
    }

    private static let bodyHeaders =
        HTTPHeaders.namesAboutBytes + [
            "Content-Type", "Content-Length", "Content-Language", "Content-Location", "Expect",
        ]

    private static func becomesGet(_ method: HTTPMethod, after status: HTTPStatus) -> Bool {
        switch status.rawValue {
        case 303: method != .get && method != .head
        case 301, 302: method == .post
        default: false
        }
    }
}

/// What a terminal does with a redirect that leads somewhere: a pure value.
package enum RedirectStep {
    /// The redirect is the response.
    case deliver
    case follow(HTTPRequest)
    /// A closure of the user decides, and returns the request to send next, or nil to deliver the redirect.
    case ask(@Sendable () -> HTTPRequest?)
    /// The redirect must not be followed, for a reason that is a sentence.
    case fail(HTTPError.Code, String)

    /// Decides about a redirect, from the request of `response` to the request `next`, after `followed` others.
    package init(_ policy: RedirectPolicy, _ response: HTTPResponse, next: HTTPRequest, followed: Int) {
        switch policy {
        case .refuse:
            self = .deliver
        case .follow(let limit):
            if RedirectRule.isDowngrade(from: response.request, to: next) {
                self = .fail(
                    .insecureConnection,
                    "The redirect leads from https to http; follow it with .ask if that is meant")
            } else {
                self = Self.follow(next, followed: followed, limit: limit)
            }
        case .ask(let ask):
            self = .ask { ask(response, next) }
        }
    }

    /// Follows a request that the user's closure chose.
    package init(chosen next: HTTPRequest, followed: Int) {
        self = Self.follow(next, followed: followed, limit: RedirectPolicy.usualLimit)
    }

    private static func follow(_ next: HTTPRequest, followed: Int, limit: Int) -> RedirectStep {
        guard followed < limit else {
            return .fail(
                .tooManyRedirects, "There were more than \(limit) redirects; allow more, or look for a loop")
        }
        guard next.body.isEmpty || next.body.canBeSentAgain else {
            return .fail(
                .invalidRequest,
                "The redirect needs the body again, and a stream can be sent only once; send a file instead")
        }
        return .follow(next)
    }
}
