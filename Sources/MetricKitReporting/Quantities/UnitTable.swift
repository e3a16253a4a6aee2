struct MeasureUnit: Hashable, Sendable {
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
    fileprivate static let bySymbol: [String: MeasureUnit] = [
        "ns": .init(.time, -9), "us": .init(.time, -6), "ms": .init(.time, -3), "s": .init(.time, 0),
        "min": .init(.time, 0, factor: 60), "h": .init(.time, 0, factor: 3600),
        "B": .init(.bytes, 0, isWhole: true), "kB": .init(.bytes, 3), "MB": .init(.bytes, 6),
        "GB": .init(.bytes, 9), "TB": .init(.bytes, 12),
    ]
}

/// The meanings of unit names in all languages.
struct UnitTable: Sendable {
    struct Entry: Sendable {
        // Some names mean a size in one language and a time in another: "t" is bytes in Finnish and hours in Norwegian.
        var units: [MeasureUnit] = []
        /// The decimal separator of the languages with this name, if they agree.
        var decimal: LocalizedNumber.Mark?
    }

    /// One meaning of a name that means different units in different languages.
    struct Rival: Sendable {
        let name: String
        let unit: MeasureUnit
        /// All unit names of the languages with this meaning.
        let companions: Set<String>
    }

    let entries: [String: Entry]
    let rivals: [Rival]

    static let all = UnitTable(names: UnitNames.table, rivals: UnitNames.rivals, more: moreNames)

    /// Names in payloads that the Unicode CLDR does not contain: those of Apple's own units, the spellings of systems before and
    /// after the versions in the table, and the English words.
    private static let moreNames: [(unit: MeasureUnit, names: [String])] = [
        (MeasureUnit(.bars, 0, isWhole: true), ["bar", "bars"]), (MeasureUnit(.luminance, 0), ["apl"]),
        (MeasureUnit(.instructions, 3), ["kiloinstructions"]), (MeasureUnit(.instructions, 0), ["instructions"]),
        (MeasureUnit(.hitchRatio, 0), ["ms per s", "ms/s"]),
        (MeasureUnit(.time, -6), ["us"]),
        (
            MeasureUnit(.time, -3),
            [
                "msec", "msec.", "msecs", "msecs.", "msek.", "millisecond", "milliseconds", "мсек.", "مللي ثانية",
                "مللي ث", "ミリ秒", "밀리초",
            ]
        ),
        (MeasureUnit(.time, 0), ["secs.", "second", "seconds", "с.", "ثانية", "ثوان", "से.", "秒鐘"]),
        (MeasureUnit(.time, 0, factor: 60), ["mins."]),
        (MeasureUnit(.bytes, 0, isWhole: true), ["octets", "Б", "байтов", "位元組", "バイト", "바이트"]),
    ]

    init(names: String, rivals: String, more: [(unit: MeasureUnit, names: [String])]) {
        var entries: [String: Entry] = [:]
        for line in names.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 2)
            guard fields.count == 3, let unit = MeasureUnit.bySymbol[String(fields[0])],
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
            guard fields.count > 2, let unit = MeasureUnit.bySymbol[fields[0]] else { return nil }
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
    func unit(_ name: String, _ entry: UnitTable.Entry, _ quantity: MeasureUnit.Quantity) -> MeasureUnit? {
        let units = entry.units.filter { $0.quantity == quantity }
        if units.count < 2 { return units.first }
        let remaining = possible.filter { $0.name == name && $0.unit.quantity == quantity }
        return remaining.count == 1 ? remaining[0].unit : nil
    }
}
