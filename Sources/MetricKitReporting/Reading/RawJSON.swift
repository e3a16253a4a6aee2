import LoaderChainPlatformFoundation

/// A piece of JSON from a payload.
public struct RawJSON: Sendable, Hashable {
    /// The bytes, for your own decoder.
    public let data: Data

    init(_ bytes: some Sequence<UInt8>) { data = Data(bytes) }
}

extension RawJSON: CustomStringConvertible {
    /// The JSON as text.
    public var description: String { String(decoding: data, as: UTF8.self) }
}

/// A value of a payload that is not in the model.
public struct Leftover: Sendable, Hashable {
    /// The reason why it is left over.
    public enum Reason: String, Sendable, Hashable {
        /// The model does not know it.
        case unknown
        /// It is not of the expected form, or it is ambiguous.
        case notUnderstood
    }

    /// The path of keys to it, such as `memoryMetrics.peakMemoryUsage`.
    public let path: String
    /// The reason why it is left over.
    public let reason: Reason
    /// The value.
    public let json: RawJSON
}
