import LoaderChainPlatformFoundation

/// A body of a value as JSON.
///
/// The value is encoded at once, so that every attempt sends the same bytes even if the encoder orders keys at random,
/// and the value need not be `Sendable`. If the value cannot be encoded, ``encode()`` throws.
public struct JSONBody: HTTPBody {
    private let encoded: Result<Data, HTTPBodyError>

    /// The body of `value`.
    public init(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) {
        encoded = Result { try encoder.encode(value) }
            .mapError { HTTPBodyError(encoding: type(of: value), failedWith: $0) }
    }

    /// The content type, `application/json`.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": "application/json"] }

    /// The JSON; throws if the value could not be encoded.
    public func encode() throws -> HTTPBodyContent { .data(try encoded.get()) }
}

extension HTTPBodyError {
    /// Says where encoding failed, without the value, which the text of an encoding error may quote.
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
