import DurableFiles
import LoaderChain
import LoaderChainPlatformC

/// A destination for text: a terminal, a pipe or a test.
final class Output: Sendable {
    let isTerminal: Bool
    private let measure: @Sendable () -> (columns: Int, rows: Int)
    private let body: @Sendable (String) -> Void

    init(
        isTerminal: Bool = false, size: @escaping @Sendable () -> (columns: Int, rows: Int) = { (100, 40) },
        _ body: @escaping @Sendable (String) -> Void
    ) {
        self.isTerminal = isTerminal
        measure = size
        self.body = body
    }

    var size: (columns: Int, rows: Int) { measure() }

    func write(_ text: String) { body(text) }

    func write(lines: [String]) {
        guard !lines.isEmpty else { return }
        write(lines.joined(separator: "\n") + "\n")
    }

    /// Standard output; `whenClosed` is called when its reader is gone.
    static func standardOutput(whenClosed: @escaping @Sendable () -> Void) -> Output {
        file(STDOUT_FILENO, whenClosed: whenClosed)
    }

    static let standardError = file(STDERR_FILENO, whenClosed: {})

    private static func file(_ number: CInt, whenClosed: @escaping @Sendable () -> Void) -> Output {
        Output(isTerminal: isatty(number) == 1, size: { size(of: number) }) { text in
            if !writeAll(Array(text.utf8), to: number) { whenClosed() }
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

/// Writes all bytes to a descriptor and returns whether that succeeded.
func writeAll(_ bytes: [UInt8], to number: CInt) -> Bool {
    bytes.withUnsafeBytes { buffer in
        var rest = buffer[...]
        while !rest.isEmpty {
            let (count, code) = uninterrupted {
                write(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            }
            if count < 0, code == EAGAIN {
                // Another process that shares the descriptor has made it non-blocking.
                var wait = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
                continue
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// The system's messages for error numbers.
enum SystemText {
    static func of(_ code: CInt) -> String {
        String(cString: strerror(code)).lowercased()
    }
}
