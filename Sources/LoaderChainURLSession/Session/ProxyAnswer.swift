import LoaderChain

/// Tells a proxy's answer to CONNECT from the response of the origin.
///
/// The session on Linux delivers both as heads of responses, and on a kept connection only the second. What follows tells them
/// apart: after a proxy's answer comes another head or a failure, never a byte of a body. So a head that may be a proxy's is
/// held until something follows.
enum ProxyAnswer {
    /// Whether requests over https may go through a proxy, by the variables in which libcurl looks for one.
    static func isPossible(in environment: [String: String]) -> Bool {
        ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { environment[$0]?.isEmpty == false }
    }

    /// Whether a proxy may have sent this head.
    ///
    /// A head that describes a body is the origin's, so that a stream of events begins with its head. A refusal may describe
    /// one: a proxy explains itself with a page, which the session drops.
    static func mayBe(_ response: HTTPResponse) -> Bool {
        !response.status.isSuccess
            || !(response.headers.contains("Content-Type") || response.headers.contains("Transfer-Encoding"))
    }

    /// Whether a head that nothing followed is a response without a body.
    ///
    /// Otherwise it is a proxy's, and the session has hidden a redirect behind it. A proxy opens a tunnel with 200, and some
    /// proxies add a length of zero. An origin sends a date, or the length of what a GET would return.
    static func isWholeResponse(_ response: HTTPResponse) -> Bool {
        response.status != .ok || response.headers.contains("Date")
            || response.headers["Content-Length"].map { Int64($0) != 0 } ?? false
    }
}
