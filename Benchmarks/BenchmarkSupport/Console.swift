import LoaderChainPlatformC

package struct Console {
    /// Prints a line of results.
    let print: (String) -> Void
    /// Prints a line that is not a result, such as an error.
    let complain: (String) -> Void
    /// Shows the current progress in place of the last one, if the output is a terminal.
    let showProgress: (String) -> Void
    /// Whether results may be coloured.
    let isStyled: Bool

    /// The process's own output, with colour and progress only on a terminal.
    package static func standard() -> Console {
        let isWatched = isatty(STDERR_FILENO) == 1
        return Console(
            print: { Swift.print($0) },
            complain: { write($0 + "\n") },
            showProgress: { if isWatched { write("\r\u{1B}[K" + $0) } },
            isStyled: isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil)
    }

    private static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 else { return }
            bytes = bytes.dropFirst(written)
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
