/// Whether a request is measured.
public enum MeasurementOption: HTTPRequestOption {
    /// Every tap measures the request.
    public static var defaultOptionValue: MeasurementOption { .always }
    /// Every tap measures the request.
    case always
    /// No tap measures the request.
    case never
}

/// The name of a request's route; nil, the default, for its path with placeholders.
package enum RouteOption: HTTPRequestOption {
    package static var defaultOptionValue: String? { nil }
}

/// The part of the program that a request belongs to; nil, the default, for the tap's module.
package enum MetricModuleOption: HTTPRequestOption {
    package static var defaultOptionValue: String? { nil }
}

/// The place in the program that makes a request; nil, the default, for none.
package enum MetricOriginOption: HTTPRequestOption {
    package static var defaultOptionValue: String? { nil }
}

/// Further tags of a request; none by default.
package enum MetricTagsOption: HTTPRequestOption {
    package static var defaultOptionValue: [String: String] { [:] }
}

extension HTTPRequest {
    /// Whether the request is measured by a ``MetricsTap``; ``MeasurementOption/always`` unless it is set.
    ///
    /// A sink that sends metrics by requests sets it to ``MeasurementOption/never`` for those, or it would report its
    /// own reports.
    public var measurement: MeasurementOption {
        get { self[option: MeasurementOption.self] }
        set { self[option: MeasurementOption.self] = newValue }
    }

    /// The name of the request's route in metrics; nil for its path with placeholders.
    ///
    /// Set it where the path holds words that differ from user to user: `/articles/{title}`. Use few names, and put no
    /// value of the request into them.
    public var route: String? {
        get { self[option: RouteOption.self] }
        set { self[option: RouteOption.self] = newValue }
    }

    /// The name of the request's route in metrics: ``route`` without secrets, or else the path with placeholders.
    ///
    /// A loader that counts requests by their route uses it, so that the number of its names stays small.
    public var routeInMetrics: String { route.map(RouteName.withoutSecrets) ?? PathTemplate.of(path) }

    /// The part of the program that the request belongs to, such as `checkout`; nil for the tap's module.
    public var metricModule: String? {
        get { self[option: MetricModuleOption.self] }
        set { self[option: MetricModuleOption.self] = newValue }
    }

    /// The place in the program that makes the request, such as a screen or a background refresh; nil for none.
    public var metricOrigin: String? {
        get { self[option: MetricOriginOption.self] }
        set { self[option: MetricOriginOption.self] = newValue }
    }

    /// Further tags of the request.
    ///
    /// The request's value replaces the tap's where both have a tag.
    public var metricTags: [String: String] {
        get { self[option: MetricTagsOption.self] }
        set { self[option: MetricTagsOption.self] = newValue }
    }
}

/// The name that a request gives its route, which may be a whole address with secrets in it.
enum RouteName {
    /// The name without its query, its fragment, its user and its password.
    static func withoutSecrets(_ route: String) -> String {
        let bytes = route.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        guard let authority = bytes[..<end].firstRange(of: "://".utf8)?.upperBound else {
            return end == bytes.endIndex ? route : String(route[..<end])
        }
        let path = bytes[authority..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
        // User and password end at the last at sign before the path.
        let host = bytes[authority..<path].lastIndex(of: UInt8(ascii: "@")).map(bytes.index(after:)) ?? authority
        return String(route[..<authority]) + String(route[host..<end])
    }
}
