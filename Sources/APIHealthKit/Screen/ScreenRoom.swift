/// What the keys have chosen on a live screen.
struct ScreenChoices: Hashable, Sendable {
    var order = RowOrder.worst
    /// Whether the screen keeps showing the same moment.
    var isPaused = false
    var showsHelp = false
    var wantsEnd = false

    mutating func take(_ keys: [UInt8]) {
        for key in Self.letters(of: keys) {
            switch key {
            case "q": wantsEnd = true
            case "s": order = order.next
            case "p": isPaused.toggle()
            case "?", "h": showsHelp.toggle()
            default: break
            }
        }
    }

    /// The keys as small letters.
    fileprivate static func letters(of keys: [UInt8]) -> [String] {
        // Arrows and the like are sequences of bytes, of which the first is an escape.
        keys.prefix { $0 != 0x1B }.map { Character(UnicodeScalar($0)).lowercased() }
    }

    fileprivate static func help(_ key: ScreenKey?) -> [StyledLine] {
        [
            "Keys", "",
            "  q        quits and prints the summary, as Ctrl-C does",
            "  s        sorts: worst first, slowest first, by name, as given",
            "  p        pauses the screen and goes on; requests are made all the same",
        ] + (key.map { [StyledLine("  \(Plain.pad($0.letter, to: 9))\($0.help)")] } ?? []) + [
            "  ?        shows this help and hides it",
            "  Ctrl-Z   suspends the program; fg goes on",
        ]
    }
}

/// A key that only one screen has.
struct ScreenKey: Sendable {
    let letter: String
    let help: String
    /// What the key would do now, for the line that names the keys.
    let words: @Sendable () -> String
    let press: @Sendable () -> Void

    func count(in keys: [UInt8]) -> Int { ScreenChoices.letters(of: keys).count { $0 == letter } }
}

/// The size of a live screen, and what it has to show beside its content.
struct ScreenRoom: Sendable {
    var columns: Int
    var rows: Int
    var choices = ScreenChoices()
    var key: ScreenKey?
    var hasKeys = true
    var isEnding = false

    /// A full last column may wrap.
    var usableColumns: Int { columns - 1 }

    /// The number of rows above the footer and an empty line.
    var usableRows: Int { max(1, rows - 2) }

    /// The whole screen: lines, or the help, above the line that names the keys.
    func screen(_ lines: [StyledLine]) -> [StyledLine] {
        Array((choices.showsHelp ? ScreenChoices.help(key) : lines).prefix(usableRows))
            + ["", footer].suffix(max(1, rows - 1))
    }

    private var footer: StyledLine {
        if isEnding { return StyledLine("Ending, and delivering metrics; Ctrl-C once more ends at once", .warning) }
        guard hasKeys else { return StyledLine("Ctrl-C quits", .faint) }
        var line = StyledLine("q quits  s sorts (\(choices.order.words))  ", .faint)
        line.add(choices.isPaused ? "p goes on (paused)" : "p pauses", choices.isPaused ? .warning : .faint)
        if let key { line.add("  \(key.letter) \(key.words())", .faint) }
        line.add("  ? helps", .faint)
        return line
    }
}

enum RowOrder: CaseIterable, Hashable, Sendable {
    case worst
    case slowest
    case name
    case given

    var words: String {
        switch self {
        case .worst: "worst first"
        case .slowest: "slowest first"
        case .name: "by name"
        case .given: "as given"
        }
    }

    var next: RowOrder {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }

    struct Rank {
        let name: String
        /// 0 for a row that fails, and more for one that is better.
        let state: Int
        let errorRatio: Double
        let latency: Duration
    }

    /// The rows in this order; rows of the same rank stay as they are.
    func sorted<Row>(_ rows: [Row], by rank: (Row) -> Rank) -> [Row] {
        let ranked = rows.enumerated().map { (offset: $0, row: $1, rank: rank($1)) }
        return ranked.sorted { left, right in
            switch self {
            case .worst:
                (left.rank.state, -left.rank.errorRatio, left.offset)
                    < (right.rank.state, -right.rank.errorRatio, right.offset)
            case .slowest: (right.rank.latency, left.offset) < (left.rank.latency, right.offset)
            case .name: (left.rank.name, left.offset) < (right.rank.name, right.offset)
            case .given: left.offset < right.offset
            }
        }.map(\.row)
    }
}
