import LoaderChainPlatformFoundation

/// A body of names and values, as a web form sends them: `application/x-www-form-urlencoded`.
///
///     let body: FormBody = ["grant_type": "password", "username": "Zoë Q."]   // grant_type=password&username=Zo%C3%AB+Q.
///
/// The order is kept, and a name may occur twice.
public struct FormBody: HTTPBody, ExpressibleByDictionaryLiteral {
    /// The names with their values, in order.
    public private(set) var fields: [(name: String, value: String)]

    /// The body of `fields`.
    public init(_ fields: [(name: String, value: String)] = []) { self.fields = fields }

    /// The body as written, in that order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0, value: $1) }
    }

    /// Adds a value at the end.
    public mutating func append(_ value: String, for name: String) {
        fields.append((name, value))
    }

    /// Whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }

    /// The content type, `application/x-www-form-urlencoded`.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": "application/x-www-form-urlencoded"] }

    /// The names and values, escaped and joined.
    public func encode() -> HTTPBodyContent {
        let pairs = fields.map { "\(PercentEncoding.encodeForm($0.name))=\(PercentEncoding.encodeForm($0.value))" }
        return pairs.isEmpty ? .empty : .data(Data(pairs.joined(separator: "&").utf8))
    }
}
