import LineProtocol
import LoaderChainPlatformFoundation

extension LineDecodingError: LocalizedError {
    /// The place and the reason.
    public var errorDescription: String? { description }
}

extension LineEncodingError: LocalizedError {
    /// The part and the reason.
    public var errorDescription: String? { description }
}
