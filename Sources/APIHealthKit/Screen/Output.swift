import DurableFiles
import LoaderChain
import LoaderChainPlatformC

/// A destination for text: a terminal, a pipe or a test.
final class Output: Sendable {
    let isTerminal: Bool
    private let measure: @Sendable () -> (columns: Int, rows: Int)
    private let body: @Sendable (String) throws(Lost) -> Void
    private let lost = Locked<Lost?>(nil)

    /// What was written does not arrive.
    struct Lost: Error, Hashable {
        /// The system's error number.
        let code: CInt
        /// Whether whoever read it does not want more.
        var isUnwanted: Bool { code == EPIPE }
    }

    init(
        isTerminal: Bool = false, size: @escaping @Sendable () -> (columns: Int, rows: Int) = { (100, 40) },
        _ body: @escaping @Sendable (String) throws(Lost) -> Void
    ) {
        self.isTerminal = isTerminal
        measure = size
        self.body = body
    }

    var size: (columns: Int, rows: Int) { measure() }

    /// How long a line may be.
    var width: Int { isTerminal ? size.columns : .max }

    /// Why something did not arrive, if so.
    var loss: Lost? { lost.withLock(\.self) }

    func write(_ text: String) {
        do { try body(text) } catch { lost.withLock { $0 = $0 ?? error } }
    }

    func write(lines: [String]) {
        guard !lines.isEmpty else { return }
        write(lines.joined(separator: "\n") + "\n")
    }

    /// Standard output; `whenLost` is called when it takes nothing more, as when its reader is gone.
    static func standardOutput(whenLost: @escaping @Sendable () -> Void) -> Output {
        file(STDOUT_FILENO, whenLost: whenLost)
    }

    static let standardError = file(STDERR_FILENO, whenLost: {})

    private static func file(_ number: CInt, whenLost: @escaping @Sendable () -> Void) -> Output {
        Output(isTerminal: isatty(number) == 1, size: { size(of: number) }) { (text) throws(Lost) in
            guard let code = writeAll(Array(text.utf8), to: number) else { return }
            whenLost()
            throw Lost(code: code)
        }
    }

    private static func size(of number: CInt) -> (columns: Int, rows: Int) {
        var window = winsize()
        guard ioctl(number, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return (100, 40)
        }
        return (Int(window.ws_col), Int(window.ws_row))
    }
}

/// The system's messages for error numbers.
enum SystemText {
    static func of(_ code: CInt) -> String {
        String(cString: strerror(code)).lowercased()
    }
}

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

/// The control sequences for a terminal.
enum Escape {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"
    /// Clears to the end of the line.
    static let clearLine = "\u{1B}[K"
    /// Clears everything below the cursor.
    static let clearBelow = "\u{1B}[J"

    static func up(_ lines: Int) -> String { lines > 0 ? "\u{1B}[\(lines)A" : "" }
}
