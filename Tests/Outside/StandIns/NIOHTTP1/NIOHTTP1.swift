// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to AsyncHTTPClient uses of NIOHTTP1. Nothing runs.

public enum HTTPMethod: Sendable {
    case other(String)
    public init(rawValue: String) { self = .other(rawValue) }
}

public struct HTTPHeaders: Sendable, Sequence {
    public mutating func add(name: String, value: String) {}
    public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fatalError() }
}

public struct HTTPResponseStatus: Sendable {
    public var code: UInt { fatalError() }
}
