/// What OpenTelemetry's conventions for HTTP clients say of values that all exporters share.
package enum ClientAttributes {
    /// The methods that have a name of their own.
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    /// The method, or `_OTHER` for one that is not known, so that there are few.
    package static func method(_ method: HTTPMethod) -> String {
        methods.contains(method.rawValue) ? method.rawValue : "_OTHER"
    }

    /// What went wrong; nil if nothing did, and for a cancel or a reset, which are no errors.
    package static func errorType(_ outcome: HTTPMetric.Outcome) -> String? {
        outcome.kind.isError ? outcome.errorType : nil
    }

    /// The version of HTTP, as in `1.1` or `2`.
    package static func version(_ networkProtocol: String?) -> String? {
        guard let name = networkProtocol?.lowercased() else { return nil }
        switch name {
        case "h2", "h2c": return "2"
        case "h3": return "3"
        default: return name.hasPrefix("http/") ? String(name.dropFirst("http/".utf8.count)) : nil
        }
    }
}
