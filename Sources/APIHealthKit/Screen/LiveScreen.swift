import LoaderChain

/// A block of lines at the end of the terminal that is written over again and again.
///
/// Lines that are to stay are written above it.
final class LiveScreen: Sendable {
    private let output: Output
    private let style: Style
    /// How many lines the block has.
    private let height = Guarded(0)

    init(_ output: Output, style: Style) {
        self.output = output
        self.style = style
        output.write(Escape.hideCursor)
    }

    /// Shows the block in place of the one before.
    func show(_ lines: [StyledLine]) {
        let (columns, rows) = output.size
        // What is scrolled out of sight cannot be written over, and a full last column may wrap.
        let shown = lines.prefix(max(1, rows - 1)).map { $0.text(style, columns: columns - 1) }
        let before = exchangeHeight(for: shown.count)
        output.write(
            Escape.up(before) + "\r" + shown.map { $0 + Escape.clearLine + "\n" }.joined() + Escape.clearBelow)
    }

    /// Takes the block away and gives the cursor back.
    func end() {
        output.write(Escape.up(exchangeHeight(for: 0)) + "\r" + Escape.clearBelow + Escape.showCursor)
    }

    private func exchangeHeight(for new: Int) -> Int {
        height.withLock { height in
            defer { height = new }
            return height
        }
    }
}
