import LoaderChain

/// A block of lines at the bottom of the terminal that is redrawn in place.
///
/// Lines that are meant to stay are written above it.
final class LiveScreen: Sendable {
    private struct Place {
        var height = 0
        /// The number of suspensions when the block was drawn.
        var suspensions = 0
    }

    private let output: Output
    private let style: Style
    private let suspensions: @Sendable () -> Int
    private let place: Locked<Place>

    /// Begins a block.
    ///
    /// - Parameter suspensions: how often the program was suspended, and went on. Others have written since, and the cursor is theirs.
    init(_ output: Output, style: Style, suspensions: @escaping @Sendable () -> Int = { 0 }) {
        self.output = output
        self.style = style
        self.suspensions = suspensions
        place = Locked(Place(suspensions: suspensions()))
        output.write(Escape.hideCursor)
    }

    /// Replaces the block, unless the program is being suspended.
    func show(_ lines: [StyledLine]) {
        // Read once: a suspension that begins from here on shows the cursor, which this must not hide again.
        let suspensions = suspensions()
        guard suspensions.isMultiple(of: 2) else { return }
        let (columns, rows) = output.size
        // Lines that have scrolled away cannot be overwritten, and a full last column may wrap.
        let shown = lines.prefix(max(1, rows - 1)).map { $0.text(style, columns: columns - 1) }
        let start = goToStart(of: Place(height: shown.count, suspensions: suspensions))
        output.write(start + shown.map { $0 + Escape.clearLine + "\n" }.joined() + Escape.clearBelow)
    }

    /// Removes the block and shows the cursor again.
    func end() {
        output.write(goToStart(of: Place(suspensions: suspensions())) + Escape.clearBelow + Escape.showCursor)
    }

    /// Goes to where a new block replaces the old one; after a suspension, that is where the cursor is.
    private func goToStart(of new: Place) -> String {
        let old = place.withLock { replace(&$0, with: new) }
        let isSame = old.suspensions == new.suspensions
        return (isSame ? Escape.up(old.height) : Escape.hideCursor) + "\r"
    }
}
