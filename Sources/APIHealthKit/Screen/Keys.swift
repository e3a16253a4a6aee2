import LoaderChain
import LoaderChainPlatformC

/// The keys that are pressed on a terminal, each at once and without an echo.
struct Keys: Sendable {
    /// Whether keys can be pressed at all.
    let areThere: Bool
    /// Sets the terminal's modes for single keys.
    let begin: @Sendable () -> Void
    /// Restores the terminal's modes.
    let end: @Sendable () -> Void
    /// Takes the bytes of the keys that were pressed, without waiting for one.
    let take: @Sendable () -> [UInt8]

    static let none = Keys(areThere: false, begin: {}, end: {}, take: { [] })

    /// The keys of standard input; none if that is not a terminal.
    static var standardInput: Keys { isatty(STDIN_FILENO) == 1 ? terminal(STDIN_FILENO) : none }

    private static func terminal(_ number: CInt) -> Keys {
        /// The modes before the first change.
        let original = Locked<termios?>(nil)
        /// A background job that changes the modes, or reads, is stopped by the system.
        @Sendable func isOurs() -> Bool { tcgetpgrp(number) == getpgrp() }
        return Keys(
            areThere: true,
            begin: {
                guard isOurs() else { return }
                original.withLock { original in
                    var modes = termios()
                    guard original != nil || tcgetattr(number, &modes) == 0 else { return }
                    modes = original ?? modes
                    original = modes
                    // Signals and the translation of output stay as they are.
                    modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
                    tcsetattr(number, TCSANOW, &modes)
                }
            },
            end: {
                guard isOurs() else { return }
                original.withLock { original in
                    guard var modes = original else { return }
                    tcsetattr(number, TCSANOW, &modes)
                }
            },
            take: {
                var look = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                guard isOurs(), poll(&look, 1, 0) > 0, look.revents & Int16(POLLIN) != 0 else { return [] }
                var bytes = [UInt8](repeating: 0, count: 64)
                let count = read(number, &bytes, bytes.count)
                return Array(bytes.prefix(max(0, count)))
            })
    }
}
