/// What a terminal does with a redirect that leads somewhere: a pure value.
package enum RedirectStep {
    /// The redirect is the response.
    case deliver
    /// The request to send next.
    case follow(HTTPRequest)
    /// A closure of the user decides, and returns the request to send next, or nil to deliver the redirect.
    case ask(@Sendable () -> HTTPRequest?)
    /// The redirect must not be followed, for a reason that is a sentence.
    case fail(HTTPError.Code, String)

    /// Decides about a redirect.
    ///
    /// - Parameters:
    ///   - policy: what the request says of redirects.
    ///   - response: the redirect, whose request was the one before.
    ///   - next: where it leads.
    ///   - followed: how many redirects were followed before it.
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
