// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to swift-metrics uses of it. Nothing runs.

public final class Counter {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public func increment(by amount: some BinaryInteger) {}
}

public final class Timer {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public func record(duration: Duration) {}
}

public final class Gauge {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public func record(_ value: some BinaryInteger) {}
}
