/// Aligned columns of text.
struct Table {
    enum Alignment {
        case left, right
        /// Decimal points are aligned.
        case decimal
    }

    struct Column {
        let title: String
        let alignment: Alignment
    }

    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var style: Style

        init(_ text: String, _ style: Style = .plain) {
            self.text = text
            self.style = style
        }

        init(stringLiteral text: String) { self.init(text) }
    }

    let columns: [Column]
    private var rows: [[Cell]] = []

    private static let margin = "  "
    private static let gutter = "   "

    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row with a cell for each column.
    mutating func add(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "a row needs \(columns.count) cells and has \(cells.count)")
        rows.append(cells)
    }

    /// Adds an empty line.
    mutating func addGap() {
        rows.append([])
    }

    /// The lines of the table, without columns that are empty in every row.
    func lines(styled: Bool) -> [String] {
        let used = columns.indices.filter { column in
            rows.contains { !$0.isEmpty && !$0[column].text.isEmpty }
        }
        let layouts = used.map { column in
            Layout(columns[column], texts: rows.filter { !$0.isEmpty }.map { $0[column].text })
        }
        func line(_ cells: [Cell], pad: (Layout, String) -> String) -> String {
            let padded = zip(layouts, cells).map { layout, cell in cell.style.apply(to: pad(layout, cell.text), styled)
            }
            return trimmingEnd(Self.margin + padded.joined(separator: Self.gutter))
        }
        let titles = used.map { Cell(columns[$0].title, .heading) }
        let rules = layouts.map { Cell(String(repeating: "─", count: $0.width), .faint) }
        let body = rows.map { row in row.isEmpty ? "" : line(used.map { row[$0] }) { $0.pad($1) } }
        return [line(titles) { $0.padTitle($1) }, line(rules) { $1 }] + body
    }

    /// The table in Markdown, without empty lines and columns that are empty in every row; a table without rows has no lines.
    func markdown() -> [String] {
        let rows = rows.filter { !$0.isEmpty }
        if rows.isEmpty { return [] }
        let used = columns.indices.filter { column in rows.contains { !$0[column].text.isEmpty } }
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
        let rules = used.map { columns[$0].alignment == .left ? "---" : "--:" }
        let body = rows.map { row in line(used.map { row[$0].text.replacing("|", with: "\\|") }) }
        return [line(used.map { columns[$0].title }), line(rules)] + body
    }

    private func trimmingEnd(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }
}

/// The width of a column, and the position of its decimal point.
private struct Layout {
    let alignment: Table.Alignment
    /// The widest text before the decimal point, and the widest from the point on.
    private let whole: Int
    private let fraction: Int
    let width: Int

    init(_ column: Table.Column, texts: [String]) {
        alignment = column.alignment
        let parts = texts.map(Layout.split)
        let fraction = column.alignment == .decimal ? parts.map(\.fraction.count).max() ?? 0 : 0
        let widest = column.alignment == .decimal ? parts.map(\.whole.count).max() ?? 0 : texts.map(\.count).max() ?? 0
        width = max(column.title.count, widest + fraction)
        self.fraction = fraction
        whole = width - fraction
    }

    func pad(_ text: String) -> String {
        switch alignment {
        case .left: return text + spaces(width - text.count)
        case .right: return spaces(width - text.count) + text
        case .decimal:
            let parts = Layout.split(text)
            return spaces(whole - parts.whole.count) + text + spaces(fraction - parts.fraction.count)
        }
    }

    func padTitle(_ title: String) -> String {
        alignment == .left ? title + spaces(width - title.count) : spaces(width - title.count) + title
    }

    private static func split(_ text: String) -> (whole: Substring, fraction: Substring) {
        let point = text.firstIndex(of: ".") ?? text.endIndex
        return (text[..<point], text[point...])
    }

    private func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}

/// The style of text on a terminal.
enum Style: String {
    case plain = ""
    case heading = "1"
    case faint = "2"
    case good = "32"
    case bad = "1;31"

    /// Applies the style, except to spaces at the ends, so that they can be cut off.
    func apply(to text: String, _ styled: Bool) -> String {
        guard styled, self != .plain, let first = text.firstIndex(where: { $0 != " " }),
            let last = text.lastIndex(where: { $0 != " " })
        else { return text }
        return text[..<first] + "\u{1B}[\(rawValue)m" + text[first...last] + "\u{1B}[0m"
            + text[text.index(after: last)...]
    }
}
