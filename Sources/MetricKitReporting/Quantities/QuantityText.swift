// Quantities: numbers with units and dates, as systems write them in any language, and histograms. Depends on JSON; Payload and
// higher folders may use it.

/// A number with the name of its unit, as in `1,530毫秒`, `79 041 кБ`, `20 secs.` and `sekunde 20`.
struct QuantityText: Sendable {
    let number: LocalizedNumber
    /// The name, with a `#` at its end if it precedes the number.
    let name: String
    let entry: UnitTable.Entry

    /// The maximum number of bytes of a number, since reading one takes many times its size.
    static let longest = 200

    /// Reads a text; nil if it is not a number with a known unit.
    init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        // Direction marks are invisible and have no meaning here.
        let seen = String(String.UnicodeScalarView(text.unicodeScalars.filter { !Self.isDirectionMark($0) }))
        let trimmed = Self.trimmed(seen[...].unicodeScalars)
        if let (number, rest) = LocalizedNumber.take(from: trimmed) {
            self.number = number
            name = Substring(Self.trimmed(rest)).replacingSpaces
        } else {
            let before = trimmed.prefix { LocalizedNumber.digit($0) == nil }
            guard let (number, rest) = LocalizedNumber.take(from: trimmed[before.endIndex...]), rest.isEmpty else {
                return nil
            }
            self.number = number
            name = Substring(Self.trimmed(before)).replacingSpaces + "#"
        }
        guard let entry = UnitTable.all.entries[name] else { return nil }
        self.entry = entry
    }

    private static func isDirectionMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func trimmed(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        var text = text.drop { $0.properties.isWhitespace }
        while let last = text.last, last.properties.isWhitespace { text.removeLast() }
        return text
    }
}

extension Substring {
    /// The text with an ASCII space for each white space.
    fileprivate var replacingSpaces: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.isWhitespace ? " " : $0 }))
    }
}
