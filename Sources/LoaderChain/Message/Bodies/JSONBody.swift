#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A body of a value as JSON.
///
/// The value is encoded at once. So every attempt sends the same bytes, even where the encoder orders keys at random,
/// and the value itself need not be `Sendable`. A value that cannot be encoded is found out by ``encode()``.
public struct JSONBody: HTTPBody {
    private let encoded: Result<Data, HTTPBodyError>

    /// The body of `value`.
    public init(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) {
        encoded = Result { try encoder.encode(value) }
            .mapError { HTTPBodyError(encoding: type(of: value), failedWith: $0) }
    }

    /// The content type, `application/json`.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": "application/json"] }

    /// The JSON, or the reason why the value has none.
    public func encode() throws -> HTTPBodyContent { .data(try encoded.get()) }
}

extension HTTPBodyError {
    /// Says where it went wrong, but not with what: what an encoding error tells about itself may quote the value.
    fileprivate init(encoding type: Any.Type, failedWith error: any Error) {
        var place = ""
        if case EncodingError.invalidValue(let value, let context) = error {
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            if !path.isEmpty { place = " at “\(ASCII.printable(path.joined(separator: ".")))”" }
            place += ", in a value of type \(Swift.type(of: value))"
        }
        self.init(
            """
            A value of type \(type) cannot be encoded as JSON\(place); see the underlying error, and change the value or \
            the encoder.
            """,
            underlyingError: error)
    }
}
