import LoaderChainPlatformFoundation

/// The pages of a list, one response after the other.
///
/// ```swift
/// for try await page in chain.pages(of: HTTPRequest(url: url)) { print(page.body.count) }
/// ```
///
/// Each page is loaded when it is awaited, so a `break` loads no more. A page that is no success throws an
/// ``HTTPError/Code/invalidResponse``, and so does a list with more pages than the limit: nothing is left out in silence.
///
/// By ``HTTPLoader/pages(of:upTo:)``, the next page is where a `Link` header with `rel=next` leads, relative to the page. A link back to an
/// earlier page, or from https to http, is an error. A link to another server is followed without the request's secret headers, such as
/// `Authorization` and `Cookie`; loaders that add credentials decide by the host. A user and a password in a link are never used.
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
            /// To load a page.
            case load(HTTPRequest)
            /// To find the page after a response, which was made for a request.
            case follow(HTTPResponse, HTTPRequest)
            /// Nothing more.
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
                    reason: "A page of a list should be a success")
            }
            stage = .follow(response, request)
            return response
        }

        private mutating func nextRequest(
            after response: HTTPResponse, _ request: HTTPRequest
        ) async throws -> HTTPRequest? {
            if let next = pages.next { return try await next(response) }
            guard let url = response.link("next") else { return nil }
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
    ///   - limit: how many pages there may be.
    public final func pages(of request: HTTPRequest, upTo limit: Int = 10_000) -> ResponsePages {
        ResponsePages(first: request, chain: self, limit: limit, next: nil)
    }

    /// The pages of a list, from a request on, where a closure makes the request for the page after a response.
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
    ///   - limit: how many pages there may be.
    ///   - next: returns the request for the page after a response; nil for the last one.
    public final func pages(
        of request: HTTPRequest, upTo limit: Int = 10_000,
        next: @escaping @Sendable (HTTPResponse) async throws -> HTTPRequest?
    ) -> ResponsePages {
        ResponsePages(first: request, chain: self, limit: limit, next: next)
    }
}
