// Terminal/Redirects: which redirects are followed, and how they change a request, for every terminal.

import LoaderChainPlatformFoundation

/// How a redirect changes a request, as RFC 9110 and the browsers have it.
package enum RedirectRule {
    /// The request that follows a redirect; nil for a response that is no redirect, or leads to no usable address.
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
        if origin(of: next) != origin(of: request) {
            for name in Set(next.headers.map(\.name)) where HTTPHeaders.isSecret(name) { next.headers.remove(name) }
            // It names the previous host.
            next.headers.remove("Host")
            next.removeTraceFromForeignHost()
        }
        return next
    }

    /// Whether a redirect leads from an encrypted connection to one that is not.
    package static func isDowngrade(from request: HTTPRequest, to next: HTTPRequest) -> Bool {
        request.scheme.lowercased() == "https" && next.scheme.lowercased() != "https"
    }

    private static let bodyHeaders = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location", "Digest",
        "Content-Digest", "Expect",
    ]

    private static func becomesGet(_ method: HTTPMethod, after status: HTTPStatus) -> Bool {
        switch status.rawValue {
        case 303: method != .get && method != .head
        case 301, 302: method == .post
        default: false
        }
    }

    /// The origin that credentials belong to: scheme, host and port.
    private static func origin(of request: HTTPRequest) -> [String] {
        let scheme = request.scheme.lowercased()
        let port = request.port ?? (scheme == "https" ? 443 : 80)
        return [scheme, (request.host ?? "").lowercased(), "\(port)"]
    }
}
