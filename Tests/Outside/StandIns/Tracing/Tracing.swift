// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to swift-distributed-tracing uses of it, and of what it exports. Nothing runs.

public struct ServiceContext: Sendable {
    public static var topLevel: ServiceContext { ServiceContext() }
    @TaskLocal public static var current: ServiceContext?
}

public protocol Injector: Sendable {
    associatedtype Carrier: Sendable
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public struct Instrument: Sendable {
    public func inject<Injecting: Injector>(
        _ context: ServiceContext, into carrier: inout Injecting.Carrier, using injector: Injecting
    ) {}
}

public enum InstrumentationSystem {
    public static var instrument: Instrument { Instrument() }
}

public protocol SpanAttributeConvertible: Sendable {}
extension String: SpanAttributeConvertible {}
extension Int: SpanAttributeConvertible {}
extension Int64: SpanAttributeConvertible {}

public struct SpanAttributes: Sendable {
    public subscript(name: String) -> (any SpanAttributeConvertible)? {
        get { nil }
        set {}
    }
}

public struct SpanStatus: Sendable {
    public enum Code: Sendable { case ok, error }
    public init(code: Code, message: String? = nil) {}
}

public enum SpanKind: Sendable { case `internal`, client }

public enum DefaultTracerClock {
    public struct Timestamp: Sendable {
        public init(nanosecondsSinceEpoch: UInt64) {}
    }
}

public protocol Span: Sendable {
    var context: ServiceContext { get }
    var attributes: SpanAttributes { get nonmutating set }
    func setStatus(_ status: SpanStatus)
    func recordError(_ error: any Error)
    func updateAttributes(_ update: (inout SpanAttributes) -> Void)
    func end()
    func end(at instant: @autoclosure () -> DefaultTracerClock.Timestamp)
}

public func startSpan(
    _ name: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
    ofKind kind: SpanKind = .internal,
    at instant: @autoclosure () -> DefaultTracerClock.Timestamp = .init(nanosecondsSinceEpoch: 0)
) -> any Span { fatalError() }

public func withSpan<Value>(
    _ name: String, isolation: isolated (any Actor)? = #isolation, _ operation: (any Span) async throws -> Value
) async rethrows -> Value { fatalError() }
