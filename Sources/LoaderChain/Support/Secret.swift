/// A value that no description, debugger or dump shows.
///
/// A type that stores its secrets this way needs no reflection of its own.
package struct Secret<Value: Sendable>: Sendable {
    package var value: Value

    package init(_ value: Value) { self.value = value }
}

extension Secret: Hashable, Equatable where Value: Hashable {}

extension Secret: Codable where Value: Codable {
    package init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Redaction.text }
    package var debugDescription: String { Redaction.text }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The text that descriptions and logs show in the place of a secret.
enum Redaction {
    static let text = "<redacted>"
}
