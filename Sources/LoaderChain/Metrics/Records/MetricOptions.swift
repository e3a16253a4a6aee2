/// Whether a request is measured.
public enum MeasurementOption: HTTPRequestOption {
    /// It is.
    public static var defaultOptionValue: MeasurementOption { .always }
    /// Every tap measures it.
    case always
    /// No tap does, and nothing of it is told.
    case never
}

/// What the route of a request is called; nil, the default, for its path with placeholders.
public enum RouteOption: HTTPRequestOption {
    /// The path with placeholders.
    public static var defaultOptionValue: String? { nil }
}

/// The part of the program that a request belongs to; nil, the default, for what the tap says.
public enum MetricModuleOption: HTTPRequestOption {
    /// What the tap says.
    public static var defaultOptionValue: String? { nil }
}

/// The place in the program that asks; nil, the default, for none.
public enum MetricOriginOption: HTTPRequestOption {
    /// None.
    public static var defaultOptionValue: String? { nil }
}

/// What is told about a request beside the rest; by default nothing.
public enum MetricTagsOption: HTTPRequestOption {
    /// Nothing.
    public static var defaultOptionValue: [String: String] { [:] }
}

extension HTTPRequest {
    /// Whether the request is measured by a ``MetricsTap``; ``MeasurementOption/always`` unless it is set.
    ///
    /// What reports metrics by requests of its own sets it to ``MeasurementOption/never``, or it would report its reports.
    public var measurement: MeasurementOption {
        get { self[option: MeasurementOption.self] }
        set { self[option: MeasurementOption.self] = newValue }
    }

    /// What the route of the request is called in metrics; nil for its path with placeholders.
    ///
    /// Name it where the path holds words that are different for each user: `/articles/{title}`. There should be as many
    /// names as a person can tell apart, so nothing of the request's own goes into them.
    public var route: String? {
        get { self[option: RouteOption.self] }
        set { self[option: RouteOption.self] = newValue }
    }

    /// The part of the program that the request belongs to, such as `checkout`; nil for what the tap says.
    public var metricModule: String? {
        get { self[option: MetricModuleOption.self] }
        set { self[option: MetricModuleOption.self] = newValue }
    }

    /// The place in the program that asks, such as a screen or a background refresh; nil for none.
    public var metricOrigin: String? {
        get { self[option: MetricOriginOption.self] }
        set { self[option: MetricOriginOption.self] = newValue }
    }

    /// What is told about the request beside the rest.
    ///
    /// Of a tag that the tap has too, the request's value counts.
    public var metricTags: [String: String] {
        get { self[option: MetricTagsOption.self] }
        set { self[option: MetricTagsOption.self] = newValue }
    }
}
