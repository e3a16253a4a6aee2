import LoaderChain

/// How long a request waits for a sign of life; nil, the default, for what the session's configuration says.
public enum TimeoutOption: HTTPRequestOption {
    /// What the configuration says, which is a minute unless it was changed.
    public static var defaultOptionValue: Duration? { nil }
}

extension HTTPRequest {
    /// How long nothing may arrive and nothing be sent before the request fails with
    /// `HTTPError.Code.timedOut`; nil for what the session's configuration says.
    ///
    /// Every byte begins it anew, so that a large body may take its time. To limit the whole, see
    /// `HTTPRequest.retryDeadline`, or the configuration's `timeoutIntervalForResource`.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue }
    }
}
