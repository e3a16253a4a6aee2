// Streams/Pages: lists that a server delivers page by page, and the links from one to the next.

import LoaderChainPlatformFoundation

/// A link of a response to something else (RFC 8288), as in `Link: <https://example.com/users?page=2>; rel="next"`.
public struct WebLink: Hashable, Sendable {
    /// Where it leads, as the server has written it; it may be relative.
    public var target: String

    /// What it leads to, in lower case: `next`, `prev`, or a URL for a relation that is not registered.
    public var relations: [String]

    /// The other parameters, such as `title` and `type`, with their names in lower case.
    ///
    /// Of a name that occurs more than once, the first value counts.
    public var parameters: [String: String]

    /// Makes a link, as a test does.
    public init(target: String, relations: [String], parameters: [String: String] = [:]) {
        self.target = target
        self.relations = relations
        self.parameters = parameters
    }
}

extension HTTPResponse {
    /// The links of the response's `Link` headers, in their order; what is no link is skipped.
    public var links: [WebLink] { headers.values(for: "Link").flatMap { WebLinkParser.links(in: $0) } }

    /// Where the first link with a relation leads, by the address of the response; nil if there is none.
    ///
    /// ```swift
    /// let response = try await chain.load(request)
    /// if let next = response.link("next") { print(next) }
    /// ```
    ///
    /// A link that speaks of something else than the response, by an `anchor`, does not count.
    public func link(_ relation: String) -> URL? {
        let relation = relation.lowercased()
        return links.lazy.filter { $0.relations.contains(relation) }.compactMap { address(of: $0) }.first
    }

    private func address(of link: WebLink) -> URL? {
        guard let base = request.url else { return nil }
        if let anchor = link.parameters["anchor"] {
            guard let context = URL(string: anchor, relativeTo: base)?.absoluteURL, context == base.absoluteURL else {
                return nil
            }
        }
        return URL(string: link.target, relativeTo: base)?.absoluteURL
    }
}
