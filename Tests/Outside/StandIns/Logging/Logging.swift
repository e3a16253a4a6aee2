// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to swift-log uses of it. Nothing runs.

public struct Logger: Sendable {
    public enum Level: Sendable { case trace, debug, notice, warning, error }
    public struct Message: ExpressibleByStringInterpolation, Sendable {
        public init(stringLiteral value: String) {}
    }
    public struct MetadataValue: ExpressibleByStringInterpolation, Sendable {
        public init(stringLiteral value: String) {}
    }
    public init(label: String) {}
    public func trace(_ message: @autoclosure () -> Message) {}
    public func log(
        level: Level, _ message: @autoclosure () -> Message,
        metadata: @autoclosure () -> [String: MetadataValue]? = nil
    ) {}
}
