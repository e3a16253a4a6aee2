/// The retry strategy of a request; nil, the default, for the strategy of the ``Retry`` loader.
public enum RetryOption: HTTPRequestOption {
    /// The loader's strategy.
    public static var defaultOptionValue: (any HTTPRetryStrategy)? { nil }
}

/// How long all attempts of a request may take together; nil, the default, for the deadline of the ``Retry`` loader.
public enum RetryDeadlineOption: HTTPRequestOption {
    /// The loader's deadline.
    public static var defaultOptionValue: Duration? { nil }
}

/// Whether a request may be made more than once; nil, the default, to go by its method.
public enum RepeatabilityOption: HTTPRequestOption {
    /// The method decides.
    public static var defaultOptionValue: Bool? { nil }
}

extension HTTPRequest {
    /// The retry strategy of the request; nil for the strategy of the ``Retry`` loader.
    ///
    /// Use ``Backoff/never`` for a request that should not be retried although others are.
    public var retryStrategy: (any HTTPRetryStrategy)? {
        get { self[option: RetryOption.self] }
        set { self[option: RetryOption.self] = newValue }
    }

    /// How long all attempts may take together, including delays; nil for the deadline of the ``Retry`` loader.
    ///
    /// It counts from the arrival at that loader, where it becomes the request's ``deadline`` unless that is earlier.
    public var retryDeadline: Duration? {
        get { self[option: RetryDeadlineOption.self] }
        set { self[option: RetryDeadlineOption.self] = newValue }
    }

    /// Whether the request may be repeated, because making it twice does no harm.
    ///
    /// By default the method decides. Set it to true for a POST with an idempotency key, or to false for a GET that has
    /// effects.
    public var isRepeatable: Bool {
        get { self[option: RepeatabilityOption.self] ?? method.isIdempotent }
        set { self[option: RepeatabilityOption.self] = newValue }
    }
}
