import LoaderChain

/// What is done about a response that sends the request elsewhere.
public enum RedirectPolicy: HTTPRequestOption {
    /// To follow, up to 20 times.
    public static var defaultOptionValue: RedirectPolicy { .follow }

    /// How many redirects are followed unless something else is said.
    public static var usualLimit: Int { 20 }

    /// To follow, up to 20 times.
    public static var follow: RedirectPolicy { .follow(upTo: usualLimit) }

    /// To follow up to a number of times; one more fails with `HTTPError.Code.tooManyRedirects`.
    case follow(upTo: Int)

    /// Not to follow: the redirect is the response.
    case refuse

    /// To ask each time, up to 20 times.
    ///
    /// The closure is given the redirect and the request that would follow, without the credentials that may not go
    /// there. It answers what to load instead: that request, another one, or nil to take the redirect for the response.
    case ask(@Sendable (_ redirect: HTTPResponse, _ next: HTTPRequest) -> HTTPRequest?)
}

extension HTTPRequest {
    /// What is done about a response that sends the request elsewhere.
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
