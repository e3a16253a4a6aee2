/// A value that no description, debugger or dump shows.
///
/// Whatever stores its secrets in these can leave its own reflection to the compiler.
struct Secret<Value: Sendable>: Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}

extension Secret: Hashable, Equatable where Value: Hashable {}

extension Secret: Codable where Value: Codable {
    init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { HTTPHeaders.redaction }
    var debugDescription: String { HTTPHeaders.redaction }
    var customMirror: Mirror { Mirror(self, children: []) }
}
