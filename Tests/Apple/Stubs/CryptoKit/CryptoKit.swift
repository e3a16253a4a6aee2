// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import FoundationEssentials

public protocol Digest: Hashable, Sendable, Sequence where Element == UInt8 {
    static var byteCount: Int { get }
}

public struct SHA256Digest: Digest {
    public static var byteCount: Int { 32 }
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA256: Sendable {
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError() }
    public init() {}
    public mutating func update<D: DataProtocol>(data: D) {}
    public func finalize() -> SHA256Digest { fatalError() }
}

public enum Curve25519: Sendable {
    public enum Signing: Sendable {
        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws { fatalError() }
            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool {
                fatalError()
            }
        }
    }
}
