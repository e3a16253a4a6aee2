import Foundation
import LoaderChain

/// What the standard and the browsers make of a redirect; decided without a network.
enum RedirectRule {
    /// The request that a response sends its request to, or nil for a response that is no usable redirect.
    ///
    /// - A 303 asks for another resource, by GET. So does a 301 or 302 in answer to POST, as every browser has it.
    /// - A 307 or 308 repeats the request as it was.
    /// - An address without a host, or of another scheme than HTTP's, is not followed.
    static func next(after status: HTTPStatus, location: String?, from request: HTTPRequest) -> HTTPRequest? {
        guard [301, 302, 303, 307, 308].contains(status.rawValue), let location, let current = request.url,
            let target = URL(string: location, relativeTo: current)?.absoluteURL,
            let scheme = target.scheme?.lowercased(), ["http", "https"].contains(scheme),
            target.host(percentEncoded: true)?.isEmpty == false
        else { return nil }

        var next = request
        next.url = target
        next.scheme = scheme
        // A fragment is the client's own, and stays with it unless there is a new one.
        if next.fragment == nil { next.fragment = request.fragment }
        if becomesGet(request.method, after: status) {
            next.method = .get
            next.body = EmptyBody()
            for name in bodyHeaders { next.headers.remove(name) }
        }
        if origin(of: next) != origin(of: request) {
            for name in Set(next.headers.map(\.name)) where HTTPHeaders.isSecret(name) { next.headers.remove(name) }
            // It names the host that was asked before.
            next.headers.remove("Host")
        }
        return next
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

    /// What credentials belong to: the scheme, the host and the port.
    private static func origin(of request: HTTPRequest) -> [String] {
        let scheme = request.scheme.lowercased()
        let port = request.port ?? (scheme == "https" ? 443 : 80)
        return [scheme, (request.host ?? "").lowercased(), "\(port)"]
    }
}
