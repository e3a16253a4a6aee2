import LineProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LineDecodingError: LocalizedError {
    /// The place and the reason.
    public var errorDescription: String? { description }
}

extension LineEncodingError: LocalizedError {
    /// The part and the reason.
    public var errorDescription: String? { description }
}
