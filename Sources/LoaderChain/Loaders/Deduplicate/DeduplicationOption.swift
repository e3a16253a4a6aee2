/// Whether a request shares its execution with others; see ``Deduplicate``.
public enum DeduplicationOption: HTTPRequestOption, Hashable {
    /// As the loader decides.
    case automatic
    /// Not at all: it is loaded on its own.
    case never
    /// With all requests that have the same key.
    case shared(as: Deduplicate.Key)

    /// As the loader decides.
    public static var defaultOptionValue: DeduplicationOption { .automatic }
}

extension HTTPRequest {
    /// Whether the request shares its execution with others that are in flight.
    ///
    /// Set it to ``DeduplicationOption/never`` to read what was just written: the answer to a request that was already in
    /// flight may be older than that.
    public var deduplication: DeduplicationOption {
        get { self[option: DeduplicationOption.self] }
        set { self[option: DeduplicationOption.self] = newValue }
    }
}
