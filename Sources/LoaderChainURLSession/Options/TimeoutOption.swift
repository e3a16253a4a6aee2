import LoaderChain

/// The idle timeout of a request; nil, the default, for the one of the session's configuration.
public enum TimeoutOption: HTTPRequestOption {
    /// The timeout of the configuration, which is a minute unless you change it.
    public static var defaultOptionValue: Duration? { nil }
}

extension HTTPRequest {
    /// How long the request may be idle before it fails; nil for the timeout of the session's configuration.
    ///
    /// It fails with `HTTPError.Code.timedOut`. Every byte sent or received starts the time again, so that a large body
    /// may take as long as it needs. To limit the whole, see `HTTPRequest.deadline`, or the configuration's
    /// `timeoutIntervalForResource`. Whichever comes first ends the request.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue }
    }
}
