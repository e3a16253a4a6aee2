/// What the loader does with a redirect.
public enum RedirectPolicy: HTTPRequestOption {
    /// Follows up to 20 redirects.
    public static var defaultOptionValue: RedirectPolicy { .follow }

    /// How many redirects are followed by default.
    public static var usualLimit: Int { 20 }

    /// Follows up to 20 redirects.
    public static var follow: RedirectPolicy { .follow(upTo: usualLimit) }

    /// Follows up to a number of redirects; one more fails with `HTTPError.Code.tooManyRedirects`.
    ///
    /// A redirect from https to http fails with `HTTPError.Code.insecureConnection`.
    case follow(upTo: Int)

    /// Follows none: the redirect is the response.
    case refuse

    /// Asks a closure each time, up to 20 times, also about a redirect from https to http.
    ///
    /// The closure receives the redirect, and the request that would be sent next, without the credentials that must not
    /// be sent there. It returns the request to send: that one, or another; or nil to make the redirect the response.
    case ask(@Sendable (_ redirect: HTTPResponse, _ next: HTTPRequest) -> HTTPRequest?)
}

extension HTTPRequest {
    /// What the loader does with a redirect; follows it by default, up to 20 times.
    ///
    /// ```swift
    /// request.redirects = .ask { redirect, next in
    ///     next.host == redirect.request.host ? next : nil
    /// }
    /// ```
    public var redirects: RedirectPolicy {
        get { self[option: RedirectPolicy.self] }
        set { self[option: RedirectPolicy.self] = newValue }
    }
}
