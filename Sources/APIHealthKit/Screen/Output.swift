import DurableFiles
import LoaderChain
import LoaderChainPlatformC

/// A destination for text: a terminal, a pipe or a test.
final class Output: Sendable {
    let isTerminal: Bool
    /// The terminal, whose foreground this process may lose; nil for none.
    private let terminal: CInt?
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
        isTerminal: Bool = false, terminal: CInt? = nil,
        size: @escaping @Sendable () -> (columns: Int, rows: Int) = { (100, 40) },
        _ body: @escaping @Sendable (String) throws(Lost) -> Void
    ) {
        self.isTerminal = isTerminal
        self.terminal = terminal
        measure = size
        self.body = body
    }

    var size: (columns: Int, rows: Int) { measure() }

    /// Whether another job has the terminal now, whose output must not be disturbed.
    var isInBackground: Bool {
        guard let terminal else { return false }
        return ![getpgrp(), -1].contains(tcgetpgrp(terminal))
    }

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
        let isTerminal = isatty(number) == 1
        return Output(isTerminal: isTerminal, terminal: isTerminal ? number : nil, size: { size(of: number) }) {
            (text) throws(Lost) in
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
