import LoaderChain

/// A block of lines at the bottom of the terminal that is redrawn in place.
///
/// Lines that are meant to stay are written above it.
final class LiveScreen: Sendable {
    private let output: Output
    private let style: Style
    private let height = Locked(0)

    init(_ output: Output, style: Style) {
        self.output = output
        self.style = style
        output.write(Escape.hideCursor)
    }

    /// Replaces the block.
    func show(_ lines: [StyledLine]) {
        let (columns, rows) = output.size
        // Lines that have scrolled away cannot be overwritten, and a full last column may wrap.
        let shown = lines.prefix(max(1, rows - 1)).map { $0.text(style, columns: columns - 1) }
        let before = exchangeHeight(for: shown.count)
        output.write(
            Escape.up(before) + "\r" + shown.map { $0 + Escape.clearLine + "\n" }.joined() + Escape.clearBelow)
    }

    /// Removes the block and shows the cursor again.
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
