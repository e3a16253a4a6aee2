/// A table whose columns fit their content.
struct TextTable {
    enum Side: Sendable { case left, right }

    private let sides: [Side]
    private var rows: [[StyledLine]] = []

    init(_ columns: [(title: String, side: Side)]) {
        sides = columns.map(\.side)
        rows.append(columns.map { StyledLine($0.title, .faint) })
    }

    mutating func add(_ cells: [StyledLine]) { rows.append(cells) }

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
