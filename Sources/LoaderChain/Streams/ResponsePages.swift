import LoaderChainPlatformFoundation

/// The pages of a list, one response after the other.
///
/// ```swift
/// for try await page in chain.pages(of: HTTPRequest(url: url)) { print(page.body.count) }
/// ```
///
/// Each page is loaded when it is awaited, so a `break` loads no more. A page that is not a success, or a list with more pages
/// than the limit, throws an ``HTTPError/Code/invalidResponse``: no page is left out silently. If the Swift task that reads is
/// cancelled, the next page throws ``HTTPError/Code/cancelled``.
///
/// With ``HTTPLoader/pages(of:upTo:)``, the next page is the target of a `Link` header with `rel=next`, relative to the page. A
/// link back to an earlier page, or from https to http, is an error. A link to another server is followed without the request's
/// secret headers, such as `Authorization` and `Cookie`; loaders that add credentials decide by the host. A user and a password
/// in a link are never used.
public struct ResponsePages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = HTTPResponse

    fileprivate let first: HTTPRequest
    fileprivate let chain: HTTPLoader
    fileprivate let limit: Int
    fileprivate let next: (@Sendable (HTTPResponse) async throws -> HTTPRequest?)?

    /// Makes an iterator, which begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: ResponsePages
        private var trail: PageTrail
        private var stage: Stage

        private enum Stage {
            case load(HTTPRequest)
            /// To find the page after a response, which was made for a request.
            case follow(HTTPResponse, HTTPRequest)
            case over
        }

        fileprivate init(pages: ResponsePages) {
            self.pages = pages
            trail = PageTrail(limit: pages.limit)
            stage = .load(pages.first)
        }

        /// The next page, or nil at the end, and after an error.
        public mutating func next() async throws -> HTTPResponse? {
            let current = replace(&stage, with: .over)
            let request: HTTPRequest
            switch current {
            case .over: return nil
            case .load(let first): request = first
            case .follow(let response, let previous):
                guard let found = try await nextRequest(after: response, previous) else { return nil }
                request = found
            }
            do throws(PageTrail.Refusal) { try trail.step() } catch { throw self.error(error, request, nil) }
            let response = try await pages.chain.load(request)
            guard response.status.isSuccess else {
                throw HTTPError(
                    .invalidResponse, request: response.request, response: response.head,
                    reason: "The status of this page is not a success")
            }
            stage = .follow(response, request)
            return response
        }

        private mutating func nextRequest(
            after response: HTTPResponse, _ request: HTTPRequest
        ) async throws -> HTTPRequest? {
            if let next = pages.next { return try await next(response) }
            guard let url = response.link("next") else {
                if response.links("next").isEmpty { return nil }
                // The list goes on, and its end must not pass for the end of the list.
                throw HTTPError(
                    .invalidResponse, request: response.request, response: response.head,
                    reason: "The link to the next page is not an HTTP address")
            }
            do throws(PageTrail.Refusal) {
                return try trail.follow(url, from: request, sent: response.request)
            } catch {
                throw self.error(error, response.request, response.head)
            }
        }

        private func error(
            _ refusal: PageTrail.Refusal, _ request: HTTPRequest, _ response: HTTPResponse?
        ) -> HTTPError {
            HTTPError(refusal.code, request: request, response: response, reason: refusal.reason)
        }
    }
}

extension HTTPLoader {
    /// The pages of a list, from a request on and by the links of its responses.
    ///
    /// - Parameters:
    ///   - request: the request for the first page; the others are made like it, but for their address.
    ///   - limit: the maximum number of pages.
    public final func pages(of request: HTTPRequest, upTo limit: Int = 10_000) -> ResponsePages {
        ResponsePages(first: request, chain: self, limit: limit, next: nil)
    }

    /// The pages of a list, from a request on; a closure makes the request for the page after a response.
    ///
    /// ```swift
    /// let pages = chain.pages(of: HTTPRequest(path: "/users")) { page in
    ///     guard let cursor = page.headers["X-Next-Cursor"] else { return nil }
    ///     var next = HTTPRequest(path: "/users")
    ///     next.queryItems = [HTTPQueryItem("cursor", cursor)]
    ///     return next
    /// }
    /// for try await page in pages { print(page.body.count) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: the request for the first page.
    ///   - limit: the maximum number of pages.
    ///   - next: returns the request for the page after a response; nil for the last one.
    public final func pages(
        of request: HTTPRequest, upTo limit: Int = 10_000,
        next: @escaping @Sendable (HTTPResponse) async throws -> HTTPRequest?
    ) -> ResponsePages {
        ResponsePages(first: request, chain: self, limit: limit, next: next)
    }
}

/// The pages that a reader has come by: decides which one may come next.
private struct PageTrail: Sendable {
    /// The reason why the next page is not loaded.
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

    /// Returns the request for the page at `url`, to which a response links.
    ///
    /// `request` is the one for the page that has the link, as the caller made it, and `sent` the same as it was sent.
    mutating func follow(
        _ url: URL, from request: HTTPRequest, sent: HTTPRequest
    ) throws(Refusal) -> HTTPRequest {
        var next = request
        next.url = url
        // The server has no reason to choose a part of the page.
        next.fragment = nil
        guard ["http", "https"].contains(next.scheme.lowercased()), next.host?.isEmpty == false else {
            throw Refusal(code: .invalidResponse, reason: "The link to the next page is not an HTTP address")
        }
        guard !RedirectRule.isDowngrade(from: sent, to: next) else {
            throw Refusal(
                code: .insecureConnection, reason: "The link to the next page leads from https to http")
        }
        seen.insert(Self.address(of: sent))
        guard seen.insert(Self.address(of: next)).inserted else {
            throw Refusal(code: .invalidResponse, reason: "The link to the next page leads back to an earlier page")
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
    /// `request` is the caller's, which these headers come from, and `sent` the last step of it: a redirect to another server has
    /// removed its secrets.
    mutating func keepSecrets(from request: HTTPRequest, sent: HTTPRequest) {
        // A loader below may fill in the host, so the caller's request need not have one.
        let leaves =
            sent.isForChosenServer || !isForServer(of: sent) || (request.host != nil && !isForServer(of: request))
        for name in Set(headers.map(\.name))
        where HTTPHeaders.isSecret(name) && (leaves || !sent.headers.contains(name)) {
            headers.remove(name)
        }
        setUserInfo(leaves || sent.userInfo == nil ? nil : request.userInfo)
        guard leaves else { return }
        headers.remove("Host")
        noteChosenServer()
    }
}
