/// What a loader tells of where a response came from, if that is not the server alone.
///
/// A loader that responds from what it has sets ``HTTPResponse/source``. ``PrintLoader`` prints the description, and a
/// ``MetricsTap`` adds the tags to the metric of the request.
///
/// ```swift
/// nonisolated struct Fixture: ResponseSource {
///     let name: String
///     var description: String { "fixture \(name)" }
///     var metricTags: [String: String] { ["fixture": name] }
/// }
/// ```
public protocol ResponseSource: Sendable, CustomStringConvertible {
    /// Tags for metrics, each with one of a few values; none by default.
    var metricTags: [String: String] { get }
}

extension ResponseSource {
    /// None.
    public var metricTags: [String: String] { [:] }
}
