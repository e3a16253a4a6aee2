/// Whether a request shares its execution with others; see ``Deduplicate``.
public enum DeduplicationOption: HTTPRequestOption, Hashable {
    /// The loader decides.
    case automatic
    /// The request is loaded on its own.
    case never
    /// The request shares its execution with all requests that have the same key.
    case shared(as: Deduplicate.Key)

    /// The loader decides.
    public static var defaultOptionValue: DeduplicationOption { .automatic }
}

extension HTTPRequest {
    /// Whether the request shares its execution with others that are in flight.
    ///
    /// Set it to ``DeduplicationOption/never`` to read what was just written: the response to a request that is already
    /// in flight may be older.
    public var deduplication: DeduplicationOption {
        get { self[option: DeduplicationOption.self] }
        set { self[option: DeduplicationOption.self] = newValue }
    }
}
