#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A piece of JSON as it stands in a payload.
public struct RawJSON: Sendable, Hashable {
    /// The bytes, for a decoder of your own.
    public let data: Data

    init(_ bytes: some Sequence<UInt8>) { data = Data(bytes) }
}

extension RawJSON: CustomStringConvertible {
    /// The JSON as text.
    public var description: String { String(decoding: data, as: UTF8.self) }
}

/// What a payload says and the model does not.
public struct Leftover: Sendable, Hashable {
    /// Why it is left over.
    public enum Reason: String, Sendable, Hashable {
        /// The model has no place for it.
        case unknown
        /// It is not what belongs there, or it could mean more than one thing.
        case notUnderstood
    }

    /// Where it stands: keys with points between them, such as `memoryMetrics.peakMemoryUsage`.
    public let path: String
    /// Why it is left over.
    public let reason: Reason
    /// What it is.
    public let json: RawJSON
}
