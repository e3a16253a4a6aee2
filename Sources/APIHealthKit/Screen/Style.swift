import LoaderChain

/// Colours text, or leaves it plain.
struct Style: Sendable {
    let isColoured: Bool

    func paint(_ text: String, _ role: Role) -> String {
        guard isColoured, let code = role.code, !text.isEmpty else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

/// The meaning of a piece of text, which determines its colour.
enum Role: Sendable {
    case plain
    /// Read first.
    case strong
    /// Read last.
    case faint
    case good
    case warning
    case bad
    /// Bars and charts.
    case accent

    fileprivate var code: String? {
        switch self {
        case .plain: nil
        case .strong: "1"
        case .faint: "2"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        case .accent: "36"
        }
    }
}

/// A line of pieces with roles, which is coloured last so that its width is known.
struct StyledLine: Sendable, ExpressibleByStringLiteral {
    private var pieces: [(text: String, role: Role)] = []

    init() {}
    init(stringLiteral text: String) { add(text) }
    init(_ text: String, _ role: Role = .plain) { add(text, role) }

    var width: Int { pieces.reduce(0) { $0 + $1.text.count } }

    mutating func add(_ text: String, _ role: Role = .plain) { pieces.append((text, role)) }

    mutating func add(_ line: StyledLine) { pieces += line.pieces }

    mutating func pad(to width: Int) { add(String(repeating: " ", count: max(0, width - self.width))) }

    /// Adds text at the right end of a line of this number of columns, of which the last stays free.
    mutating func add(_ text: String, _ role: Role = .plain, atEndOf columns: Int) {
        pad(to: columns - 2 - text.count)
        add(" " + text, role)
    }

    /// The line, shortened in the middle if it is longer than `columns`.
    func fit(to columns: Int) -> StyledLine {
        guard width > columns else { return self }
        let characters = pieces.flatMap { piece in piece.text.map { (text: $0, role: piece.role) } }
        let tail = max(0, columns - 1) / 2
        let head = max(0, columns - 1 - tail)
        var line = StyledLine()
        for (character, role) in characters.prefix(head) { line.add(String(character), role) }
        if columns > 0 { line.add("…", characters[head].role) }
        for (character, role) in characters.suffix(tail) { line.add(String(character), role) }
        return line
    }

    /// The coloured line, truncated to the given number of columns.
    func text(_ style: Style, columns: Int = .max) -> String {
        var room = columns
        var text = ""
        for piece in pieces where room > 0 {
            let part = String(piece.text.prefix(room))
            text += style.paint(part, piece.role)
            room -= part.count
        }
        return text
    }
}

/// A table whose columns fit their content, and whose lines fit the terminal.
struct TextTable {
    enum Side: Sendable { case left, right }

    struct Column {
        let title: String
        var side = Side.left
        /// Whether its cells are shortened in the middle rather than that the line is cut.
        var shrinks = false
        /// The order in which columns are left out if there is no room for all; nil for never.
        var leaves: Int?

        init(_ title: String, _ side: Side = .left, shrinks: Bool = false, leaves: Int? = nil) {
            self.title = title
            self.side = side
            self.shrinks = shrinks
            self.leaves = leaves
        }
    }

    private let columns: [Column]
    private var rows: [[StyledLine]]

    init(_ columns: [Column]) {
        self.columns = columns
        rows = [columns.map { StyledLine($0.title, .faint) }]
    }

    /// Adds a row, which has a cell for every column.
    mutating func add(_ cells: [StyledLine]) { rows.append(cells) }

    /// Columns are left out before a shrinking one gets narrower than this.
    private static var leastWidth: Int { 24 }
    private static var gap: Int { 2 }

    /// The lines, with two spaces between the columns, in at most `limit` columns if that is possible.
    func lines(in limit: Int = .max) -> [StyledLine] {
        var widths = columns.indices.map { column in rows.reduce(0) { max($0, $1[column].width) } }
        var shown = Array(columns.indices)
        func excess(_ width: (Int) -> Int) -> Int {
            shown.reduce(-Self.gap) { $0 + width($1) + Self.gap } - limit
        }
        func least(_ column: Int) -> Int {
            columns[column].shrinks ? min(widths[column], Self.leastWidth) : widths[column]
        }
        let leaving = columns.indices.filter { columns[$0].leaves != nil }
            .sorted { columns[$0].leaves ?? 0 < columns[$1].leaves ?? 0 }
        for column in leaving where excess(least) > 0 { shown.removeAll { $0 == column } }
        for column in shown where columns[column].shrinks {
            let whole = widths
            widths[column] = max(1, min(whole[column], whole[column] - excess { whole[$0] }))
        }
        return rows.map { line(of: $0, shown, widths) }
    }

    private func line(of row: [StyledLine], _ shown: [Int], _ widths: [Int]) -> StyledLine {
        var line = StyledLine()
        // No trailing spaces after the last cell with text.
        let last = shown.lastIndex { row[$0].width > 0 } ?? 0
        for (place, column) in shown.prefix(last + 1).enumerated() {
            if place > 0 { line.pad(to: line.width + Self.gap) }
            let end = line.width + widths[column]
            let cell = row[column].fit(to: widths[column])
            if columns[column].side == .right { line.pad(to: end - cell.width) }
            line.add(cell)
            if place < last { line.pad(to: end) }
        }
        return line
    }
}

/// A small histogram of durations with round bounds.
struct LatencyBars: Sendable, Hashable {
    /// The bounds between the bars, in milliseconds.
    static let bounds: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]

    /// The counts below the first bound, between each two, and from the last one on.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)

    /// Counts a duration; a duration that equals a bound belongs to the bar above it.
    mutating func record(_ duration: Duration) {
        let milliseconds = duration / .milliseconds(1)
        counts[Self.bounds.firstIndex { milliseconds < $0 } ?? Self.bounds.count] += 1
    }

    /// The bars as block characters, scaled to the highest; a count above zero is always visible.
    var text: String { Blocks.text(counts.map(Double.init)) }

    /// The heading above ``text``, which marks one millisecond and five seconds.
    static let title = " 1ms      5s+"
}

enum Blocks {
    private static let heights: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// A column for each value, scaled to the largest; a space for zero.
    static func text(_ values: [Double]) -> String {
        let largest = values.reduce(0, max)
        return String(values.map { largest > 0 ? block($0 / largest) : " " })
    }

    private static func block(_ part: Double) -> Character {
        guard part > 0 else { return " " }
        return heights[min(heights.count - 1, Int(part * Double(heights.count)))]
    }

    static func progress(_ part: Double, width: Int) -> (done: String, rest: String) {
        let count = Int((min(max(part.isNaN ? 0 : part, 0), 1) * Double(width)).rounded())
        return (String(repeating: "━", count: count), String(repeating: "─", count: width - count))
    }
}
