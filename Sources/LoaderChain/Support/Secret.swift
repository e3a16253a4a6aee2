/// A value that no description, debugger or dump shows, so that a type with such secrets needs no reflection of its own.
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

    /// A query whose items have lost their values.
    static func query(_ query: String) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            // What only ends in equals signs may be a padded secret, rather than a name.
            guard let equals = item.firstIndex(of: "="), item[equals...].contains(where: { $0 != "=" }) else {
                return "redacted"
            }
            return item[..<equals] + "=redacted"
        }.joined(separator: "&")
    }

    /// A text whose URLs have lost their credentials, the values of their queries, and their fragments.
    ///
    /// - Parameter ends: the bytes that end a URL in the text; if it has none of them, it has one URL, up to its end.
    static func urls(in text: String, endingAt ends: ASCIISet) -> String {
        var shown = ""
        var rest = Substring(text).utf8
        while !rest.isEmpty {
            let part = rest.prefix { !ends.contains($0) }
            shown += url(part)
            rest = rest[part.endIndex...]
            if let end = rest.popFirst() { shown.unicodeScalars.append(Unicode.Scalar(end)) }
        }
        return shown
    }

    private static func url(_ text: Substring.UTF8View) -> String {
        let address = text.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let query = text[address.endIndex...].prefix { $0 != UInt8(ascii: "#") }
        let shown = withoutCredentials(address)
        return query.isEmpty ? shown : shown + "?" + Self.query(String(decoding: query.dropFirst(), as: UTF8.self))
    }

    /// A URL up to its query, whose authority is what follows two slashes.
    private static func withoutCredentials(_ address: Substring.UTF8View) -> String {
        let parts = address.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let shown = parts.indices.map { index -> String in
            guard index > 1, parts[index - 1].isEmpty, let at = parts[index].lastIndex(of: UInt8(ascii: "@")) else {
                return String(decoding: parts[index], as: UTF8.self)
            }
            return "redacted" + String(decoding: parts[index][at...], as: UTF8.self)
        }
        return shown.joined(separator: "/")
    }
}
