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

    /// Adds text at the right end of a line of so many columns, of which the last stays free.
    mutating func add(_ text: String, _ role: Role = .plain, atEndOf columns: Int) {
        pad(to: columns - 2 - text.count)
        add(" " + text, role)
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

/// A table whose columns fit their content.
struct TextTable {
    enum Side: Sendable { case left, right }

    /// The indices of the columns that are not left out.
    private let shown: [Int]
    private let sides: [Side]
    private var rows: [[StyledLine]]

    /// Makes a table that leaves out the columns with the titles in `omitted`, as a narrow terminal needs it.
    init(_ columns: [(title: String, side: Side)], without omitted: Set<String> = []) {
        let shown = columns.indices.filter { !omitted.contains(columns[$0].title) }
        self.shown = shown
        sides = shown.map { columns[$0].side }
        rows = [shown.map { StyledLine(columns[$0].title, .faint) }]
    }

    /// Adds a row, which has a cell for every column, also for those that are left out.
    mutating func add(_ cells: [StyledLine]) { rows.append(shown.map { cells[$0] }) }

    /// The lines, with two spaces between the columns.
    var lines: [StyledLine] {
        let widths = sides.indices.map { column in rows.reduce(0) { max($0, $1[column].width) } }
        return rows.map { row in
            var line = StyledLine()
            // No trailing spaces after the last cell with text.
            let last = row.lastIndex { $0.width > 0 } ?? 0
            for (column, cell) in row.prefix(last + 1).enumerated() {
                if column > 0 { line.add("  ") }
                let end = line.width + widths[column]
                if sides[column] == .right { line.pad(to: end - cell.width) }
                line.add(cell)
                if column < last { line.pad(to: end) }
            }
            return line
        }
    }
}

/// A small histogram of durations with round bounds.
struct LatencyBars: Sendable, Hashable {
    /// The bounds between the bars, in milliseconds.
    static let bounds: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]

    /// The counts below the first bound, between each two, and from the last one on.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)

    init() {}

    /// Counts a duration; one that equals a bound belongs to the bar above it.
    mutating func record(_ duration: Duration) {
        let milliseconds = duration / .milliseconds(1)
        counts[Self.bounds.firstIndex { milliseconds < $0 } ?? Self.bounds.count] += 1
    }

    /// The bars as block characters, scaled to the highest; a count above zero is always visible.
    var text: String { Blocks.text(counts.map(Double.init)) }

    /// The heading above ``text``, which marks one millisecond and five seconds.
    static let title = " 1ms      5s+"
}

/// Draws with block characters.
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

    /// A progress bar.
    static func progress(_ part: Double, width: Int) -> (done: String, rest: String) {
        let count = Int((min(max(part.isNaN ? 0 : part, 0), 1) * Double(width)).rounded())
        return (String(repeating: "━", count: count), String(repeating: "─", count: width - count))
    }
}
