import LoaderChain

/// The whole terminal, which is redrawn until it is left; what was on it before is there again then.
///
/// Each frame begins at the top and measures the terminal, so that a new size needs no more than the next frame.
final class LiveScreen: Sendable {
    private enum Place: Sendable {
        /// The terminal shows what it showed before; the next frame enters the screen.
        case outside
        case inside
        /// Others have the terminal, until the process goes on.
        case suspended
        case ended
    }

    private let output: Output
    private let style: Style
    let keys: Keys
    /// The lock is held while a frame is written, so that none follows the text that leaves the screen.
    private let place = Locked(Place.outside)

    init(_ output: Output, style: Style, keys: Keys = .none) {
        self.output = output
        self.style = style
        self.keys = keys
    }

    /// The size of the terminal now.
    var room: ScreenRoom {
        let (columns, rows) = output.size
        return ScreenRoom(columns: columns, rows: rows, hasKeys: keys.areThere)
    }

    /// Draws a frame, unless others have the terminal.
    func show(_ lines: [StyledLine]) {
        let room = room
        let frame = lines.prefix(room.rows).map { $0.text(style, columns: room.usableColumns) + Escape.clearLine }
        place.withLock { place in
            guard place == .inside || place == .outside, !output.isInBackground else { return }
            let start = place == .outside ? Escape.enterScreen + Escape.hideCursor : ""
            place = .inside
            // Also when the process goes on, because a shell sets its own modes meanwhile.
            if !start.isEmpty { keys.begin() }
            output.write(start + Escape.home + frame.joined(separator: "\n") + Escape.clearBelow)
        }
    }

    /// Gives the terminal back until ``resume()``.
    func suspend() { leave(for: .suspended) }

    /// Lets the next frame enter the screen again.
    func resume() {
        place.withLock { place in
            guard place == .suspended else { return }
            place = .outside
        }
    }

    /// Gives the terminal back for good.
    func end() { leave(for: .ended) }

    private func leave(for next: Place) {
        place.withLock { place in
            defer { if place != .ended { place = next } }
            guard place == .inside else { return }
            keys.end()
            // A terminal without a second screen keeps the frame, unless it is cleared.
            output.write(Escape.home + Escape.clearBelow + Escape.leaveScreen + Escape.showCursor)
        }
    }
}

enum Escape {
    /// Saves the cursor's position and shows an empty second screen.
    static let enterScreen = "\u{1B}[?1049h"
    /// Shows the first screen again, with the cursor at its old position.
    static let leaveScreen = "\u{1B}[?1049l"
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"
    /// Goes to the top left.
    static let home = "\u{1B}[H"
    /// Clears to the end of the line.
    static let clearLine = "\u{1B}[K"
    static let clearBelow = "\u{1B}[J"
}
