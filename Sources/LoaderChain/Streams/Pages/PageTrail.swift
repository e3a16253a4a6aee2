import LoaderChainPlatformFoundation

/// The pages that a reader has come by: decides which one may come next.
struct PageTrail: Sendable {
    /// Why the next page is not loaded.
    struct Refusal: Error, Hashable {
        let code: HTTPError.Code
        let reason: String
    }

    private let limit: Int
    private var count = 0
    private var seen: Set<String> = []

    init(limit: Int) { self.limit = max(1, limit) }

    /// Counts a page that is about to be loaded.
    mutating func step() throws(Refusal) {
        guard count < limit else {
            throw Refusal(code: .invalidResponse, reason: "There are more pages than the limit of \(limit); raise it")
        }
        count += 1
    }

    /// Returns the request for the page that a link of a response leads to.
    ///
    /// - Parameters:
    ///   - url: where the link leads.
    ///   - request: the request for the page that has the link, as the caller made it.
    ///   - sent: the same as it was sent.
    mutating func follow(
        _ url: URL, from request: HTTPRequest, sent: HTTPRequest
    ) throws(Refusal) -> HTTPRequest {
        var next = request
        next.url = url
        // The server has no reason to choose a part of the page.
        next.fragment = nil
        guard ["http", "https"].contains(next.scheme.lowercased()), next.host?.isEmpty == false else {
            throw Refusal(code: .invalidResponse, reason: "The link to the next page leads to no address of HTTP")
        }
        guard !RedirectRule.isDowngrade(from: sent, to: next) else {
            throw Refusal(
                code: .insecureConnection, reason: "The link to the next page leads from https to http")
        }
        seen.insert(Self.address(of: sent))
        guard seen.insert(Self.address(of: next)).inserted else {
            throw Refusal(code: .invalidResponse, reason: "The link to the next page leads back to an earlier one")
        }
        next.keepSecrets(from: request, sent: sent)
        return next
    }

    private static func address(of request: HTTPRequest) -> String {
        let address = request.storage.address
        return "\(request.scheme.lowercased())://\(request.origin)\(address.target(showing: .shown))"
    }
}

extension HTTPRequest {
    /// Removes the secrets that the server of this request must not see, and the user and password that a server has chosen.
    ///
    /// - Parameters:
    ///   - request: the caller's request, which these headers come from.
    ///   - sent: the last step of it; a redirect to another server has removed its secrets.
    mutating func keepSecrets(from request: HTTPRequest, sent: HTTPRequest) {
        // A loader below may fill in the host, so the caller's request need not have one.
        let leaves = !isForServer(of: sent) || (request.host != nil && !isForServer(of: request))
        for name in Set(headers.map(\.name))
        where HTTPHeaders.isSecret(name) && (leaves || !sent.headers.contains(name)) {
            headers.remove(name)
        }
        setUserInfo(leaves || sent.userInfo == nil ? nil : request.userInfo)
        if leaves { headers.remove("Host") }
    }

    private func isForServer(of other: HTTPRequest) -> Bool {
        origin == other.origin && scheme.lowercased() == other.scheme.lowercased()
    }
}
