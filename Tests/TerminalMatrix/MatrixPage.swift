/// The tables of the page, one for each group of cases.
package enum MatrixPage {
    /// A page with its tables made anew: what stands between a comment `made: matrix GROUP` and the next `end`.
    package static func refreshed(_ page: String) -> String {
        MatrixGroup.allCases.reduce(page) { page, group in
            let start = "<!-- made: matrix \(group) -->\n"
            guard let begin = page.range(of: start)?.upperBound,
                let end = page[begin...].range(of: "<!-- end -->")?.lowerBound
            else { return page }
            return page[..<begin] + "\n" + table(of: group).joined(separator: "\n") + "\n\n" + page[end...]
        }
    }

    /// The groups that a page has no table for.
    package static func missing(in page: String) -> [MatrixGroup] {
        MatrixGroup.allCases.filter { !page.contains("<!-- made: matrix \($0) -->\n") }
    }

    /// The table of a group, in which neighbours with the same cells share a row.
    private static func table(of group: MatrixGroup) -> [String] {
        var rows: [(names: [String], cells: [String])] = []
        for row in group.cases {
            let cells = MatrixTerminal.Name.allCases.map { row.expectation(of: $0).cell }
            if rows.last?.cells == cells {
                rows[rows.count - 1].names.append(row.name)
            } else {
                rows.append(([row.name], cells))
            }
        }
        let head = ["case"] + MatrixTerminal.Name.allCases.map { "`\($0.rawValue)`" }
        return
            ([head, head.map { _ in "---" }] + rows.map { [$0.names.joined(separator: "; ")] + differing($0.cells) })
            .map { "| " + $0.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |" }
    }

    /// The cells, with "the same" instead of a repetition.
    private static func differing(_ cells: [String]) -> [String] {
        cells.indices.map { $0 > 0 && cells[$0] == cells[0] ? "the same" : cells[$0] }
    }
}
