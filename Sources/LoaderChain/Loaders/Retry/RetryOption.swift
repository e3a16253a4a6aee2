/// The strategy by which a request is tried again; nil, the default, for the strategy of the ``Retry`` loader.
public enum RetryOption: HTTPRequestOption {
    /// The loader's strategy.
    public static var defaultOptionValue: (any HTTPRetryStrategy)? { nil }
}

/// How long all attempts at a request may take together; nil, the default, for what the ``Retry`` loader says.
public enum RetryDeadlineOption: HTTPRequestOption {
    /// The loader's deadline.
    public static var defaultOptionValue: Duration? { nil }
}

/// Whether a request may be made more than once; nil, the default, for what its method says.
public enum RepeatabilityOption: HTTPRequestOption {
    /// What the method says.
    public static var defaultOptionValue: Bool? { nil }
}

extension HTTPRequest {
    /// The strategy by which the request is tried again; nil for the strategy of the ``Retry`` loader.
    ///
    /// ``Backoff/never`` is for a request that is not to be tried again although others are.
    public var retryStrategy: (any HTTPRetryStrategy)? {
        get { self[option: RetryOption.self] }
        set { self[option: RetryOption.self] = newValue }
    }

    /// How long all attempts may take together, delays included; nil for what the ``Retry`` loader says.
    public var retryDeadline: Duration? {
        get { self[option: RetryDeadlineOption.self] }
        set { self[option: RetryDeadlineOption.self] = newValue }
    }

    /// Whether making the request twice does no harm, so that it may be repeated.
    ///
    /// It follows from the method, unless it is set: to true for a POST that carries an idempotency key, say, or to false
    /// for a GET that is not as harmless as it should be.
    public var isRepeatable: Bool {
        get { self[option: RepeatabilityOption.self] ?? method.isIdempotent }
        set { self[option: RepeatabilityOption.self] = newValue }
    }
}
