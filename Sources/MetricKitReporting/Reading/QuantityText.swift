/// A number with its unit, as in `1,530毫秒`, `79 041 кБ` and `20 secs.`.
struct QuantityText: Hashable, Sendable {
    let number: NumberText
    let unit: UnitWord

    /// Reads a text; nil if it is not a number with a unit that is known.
    init?(_ text: String) {
        // Marks of direction, which letters of other scripts bring along, are not seen, and mean nothing.
        let seen = String(String.UnicodeScalarView(text.unicodeScalars.filter { !Self.isDirectionMark($0) }))
        guard let (number, rest) = NumberText.take(from: Self.trimmed(seen[...].unicodeScalars)),
            let unit = UnitWord(Substring(Self.trimmed(rest)).replacingSpaces)
        else { return nil }
        self.number = number
        self.unit = unit
    }

    /// How much of the unit of its quantity it is, or nil if the number could mean two things.
    func amount(in style: NumberStyle) -> DecimalNumber? {
        style.number(number, unit).flatMap { unit.amount($0) }
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
    /// The text with a plain space for each space of another kind.
    fileprivate var replacingSpaces: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.isWhitespace ? " " : $0 }))
    }
}
