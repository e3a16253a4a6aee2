/// The status of a response: `200 OK`, `404 Not Found`, or any other code.
///
/// It is a struct, not an enum, so that codes unknown to this library pass through.
public struct HTTPStatus: RawRepresentable, Hashable, Sendable {
    /// The code.
    public let rawValue: Int

    /// The status of that code.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The status of that code.
    public init(_ code: Int) { self.init(rawValue: code) }

    /// Whether the final response is still to come: 100 to 199.
    public var isInformational: Bool { 100..<200 ~= rawValue }

    /// Whether the request was received, understood and accepted: 200 to 299.
    public var isSuccess: Bool { 200..<300 ~= rawValue }

    /// Whether more has to be done to complete the request: 300 to 399.
    public var isRedirection: Bool { 300..<400 ~= rawValue }

    /// Whether the server blames the request: 400 to 499.
    public var isClientError: Bool { 400..<500 ~= rawValue }

    /// Whether the server blames itself: 500 to 599.
    public var isServerError: Bool { 500..<600 ~= rawValue }
}

extension HTTPStatus: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The status of the code as written.
    public init(integerLiteral value: Int) { self.init(value) }

    /// The code and its reason phrase, as in `404 Not Found`; the code alone if it is not registered.
    public var description: String {
        reasonPhrase.isEmpty ? "\(rawValue)" : "\(rawValue) \(reasonPhrase)"
    }
}
