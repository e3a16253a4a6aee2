// Terminal/Options: what a request may ask of every terminal that transfers over a network.

/// The idle timeout of a request; nil, the default, for the terminal's own.
public enum TimeoutOption: HTTPRequestOption {
    /// The timeout of the terminal, which is a minute unless you change it.
    public static var defaultOptionValue: Duration? { nil }
}

extension HTTPRequest {
    /// How long the request may be idle before it fails; nil for the terminal's own.
    ///
    /// It fails with `HTTPError.Code.timedOut`. Every byte sent or received starts the time again, so that a large body
    /// may take as long as it needs. To limit the whole, see ``deadline``, or the terminal's limit for the
    /// whole. Whichever comes first ends the request.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue }
    }
}
