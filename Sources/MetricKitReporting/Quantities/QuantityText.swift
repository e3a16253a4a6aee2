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

struct UnitWord: Hashable, Sendable {
    /// A quantity, with its unit in the model.
    enum Quantity: Hashable, Sendable {
        /// In seconds.
        case time
        case bytes
        /// In bars of a signal.
        case bars
        /// In units of average pixel luminance.
        case luminance
        case instructions
        /// In milliseconds of hitches for each second.
        case hitchRatio
    }

    let quantity: Quantity
    /// The conversion to the quantity's unit: a factor and a power of ten.
    let factor: Int
    let power: Int
    /// Whether the unit has no fractions.
    let isWhole: Bool

    init(_ quantity: Quantity, _ power: Int, factor: Int = 1, isWhole: Bool = false) {
        self.quantity = quantity
        self.factor = factor
        self.power = power
        self.isWhole = isWhole
    }

    /// Converts an amount to the quantity's unit.
    func amount(_ number: DecimalNumber) -> DecimalNumber? {
        (factor == 1 ? number : number.multiplied(by: factor))?.scaled(by: power)
    }

    /// The units by their symbols in ``UnitNames``.
    fileprivate static let bySymbol: [String: UnitWord] = [
        "ns": UnitWord(.time, -9), "us": UnitWord(.time, -6), "ms": UnitWord(.time, -3), "s": UnitWord(.time, 0),
        "min": UnitWord(.time, 0, factor: 60), "h": UnitWord(.time, 0, factor: 3600),
        "B": UnitWord(.bytes, 0, isWhole: true), "kB": UnitWord(.bytes, 3), "MB": UnitWord(.bytes, 6),
        "GB": UnitWord(.bytes, 9), "TB": UnitWord(.bytes, 12),
    ]
}

/// The meanings of unit names in all languages.
struct UnitTable: Sendable {
    struct Entry: Sendable {
        // Some names mean a size in one language and a time in another: "t" is bytes in Finnish and hours in Norwegian.
        var units: [UnitWord] = []
        /// The decimal separator of the languages with this name, if they agree.
        var decimal: LocalizedNumber.Mark?
    }

    /// One meaning of a name that means different units in different languages.
    struct Rival: Sendable {
        let name: String
        let unit: UnitWord
        /// All unit names of the languages with this meaning.
        let companions: Set<String>
    }

    let entries: [String: Entry]
    let rivals: [Rival]

    static let all = UnitTable(names: UnitNames.table, rivals: UnitNames.rivals, more: moreNames)

    /// Names in payloads that the Unicode CLDR does not contain: those of Apple's own units, the spellings of systems before and
    /// after the versions in the table, and the English words.
    private static let moreNames: [(unit: UnitWord, names: [String])] = [
        (UnitWord(.bars, 0, isWhole: true), ["bar", "bars"]), (UnitWord(.luminance, 0), ["apl"]),
        (UnitWord(.instructions, 3), ["kiloinstructions"]), (UnitWord(.instructions, 0), ["instructions"]),
        (UnitWord(.hitchRatio, 0), ["ms per s", "ms/s"]),
        (UnitWord(.time, -6), ["us"]),
        (
            UnitWord(.time, -3),
            [
                "msec", "msec.", "msecs", "msecs.", "msek.", "millisecond", "milliseconds", "мсек.", "مللي ثانية",
                "مللي ث", "ミリ秒", "밀리초",
            ]
        ),
        (UnitWord(.time, 0), ["secs.", "second", "seconds", "с.", "ثانية", "ثوان", "से.", "秒鐘"]),
        (UnitWord(.time, 0, factor: 60), ["mins."]),
        (UnitWord(.bytes, 0, isWhole: true), ["octets", "Б", "байтов", "位元組", "バイト", "바이트"]),
    ]

    init(names: String, rivals: String, more: [(unit: UnitWord, names: [String])]) {
        var entries: [String: Entry] = [:]
        for line in names.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 2)
            guard fields.count == 3, let unit = UnitWord.bySymbol[String(fields[0])],
                let mark = fields[1].unicodeScalars.first
            else { continue }
            let decimal = LocalizedNumber.Mark(mark)
            for name in Self.names(fields[2]) {
                var entry = entries[name] ?? Entry(decimal: decimal)
                entry.units.append(unit)
                if entry.decimal != decimal { entry.decimal = nil }
                entries[name] = entry
            }
        }
        for (unit, names) in more {
            // A name with another meaning in some language is rejected where it is ambiguous.
            for name in names where entries[name]?.units.contains(unit) != true {
                entries[name, default: Entry()].units.append(unit)
            }
        }
        self.entries = entries
        self.rivals = rivals.split(separator: "\n").compactMap { line in
            let fields = Self.names(line)
            guard fields.count > 2, let unit = UnitWord.bySymbol[fields[0]] else { return nil }
            return Rival(name: fields[1], unit: unit, companions: Set(fields[2...]))
        }
    }

    // Split between scalars, since a combining character would join the separator.
    private static func names(_ text: Substring) -> [String] {
        text.unicodeScalars.split(separator: "|").map { String($0) }
    }
}

/// Evidence from a payload's unit names about its language, to resolve names with two meanings.
///
/// "saat" is a second in Malay and an hour in Azerbaijani. If the payload contains another name that Azerbaijani lacks, it is not
/// in Azerbaijani.
struct UnitEvidence: Sendable {
    private var possible = UnitTable.all.rivals

    mutating func learn(from name: String, _ entry: UnitTable.Entry) {
        // Apple's own units have the same names in every language.
        guard entry.units.contains(where: { $0.quantity == .time || $0.quantity == .bytes }) else { return }
        possible.removeAll { !$0.companions.contains(name) }
    }

    /// The unit of a name for a quantity; nil if it is unknown or ambiguous.
    func unit(_ name: String, _ entry: UnitTable.Entry, _ quantity: UnitWord.Quantity) -> UnitWord? {
        let units = entry.units.filter { $0.quantity == quantity }
        if units.count < 2 { return units.first }
        let remaining = possible.filter { $0.name == name && $0.unit.quantity == quantity }
        return remaining.count == 1 ? remaining[0].unit : nil
    }
}
