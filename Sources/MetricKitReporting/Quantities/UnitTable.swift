/// The meanings of unit names in all languages.
struct UnitTable: Sendable {
    /// The meaning of a name.
    struct Entry: Sendable {
        // Some names mean a size in one language and a time in another: "t" is bytes in Finnish and hours in Norwegian.
        var units: [UnitWord] = []
        /// The decimal mark of the languages with this name, if they agree.
        var decimal: NumberText.Mark?
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

    /// Names that payloads have, or had, and the Unicode CLDR has not: those of Apple's own units, the spellings of systems
    /// before and after the versions that the table is made from, and the English words.
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
            let decimal = NumberText.Mark(mark)
            for name in Self.names(fields[2]) {
                var entry = entries[name] ?? Entry(decimal: decimal)
                entry.units.append(unit)
                if entry.decimal != decimal { entry.decimal = nil }
                entries[name] = entry
            }
        }
        for (unit, names) in more {
            // A name with another meaning in some language is refused wherever the meaning is ambiguous.
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

/// What the unit names in one payload tell about its language, to resolve names with two meanings.
///
/// "saat" is a second in Malay and an hour in Azerbaijani. A payload that has a name beside it which Azerbaijani has not is not
/// Azerbaijani.
struct UnitEvidence: Sendable {
    private var possible = UnitTable.all.rivals

    mutating func learn(from name: String, _ entry: UnitTable.Entry) {
        // Apple's own units have the same names in every language.
        guard entry.units.contains(where: { $0.quantity == .time || $0.quantity == .bytes }) else { return }
        possible.removeAll { !$0.companions.contains(name) }
    }

    /// The unit that a name means for a quantity; nil if there is none or it is ambiguous.
    func unit(_ name: String, _ entry: UnitTable.Entry, _ quantity: UnitWord.Quantity) -> UnitWord? {
        let units = entry.units.filter { $0.quantity == quantity }
        if units.count < 2 { return units.first }
        let remaining = possible.filter { $0.name == name && $0.unit.quantity == quantity }
        return remaining.count == 1 ? remaining[0].unit : nil
    }
}
