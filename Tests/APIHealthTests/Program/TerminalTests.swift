#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import TestProcesses
    import Testing

    @testable import APIHealthKit

    /// The live screen in a shell on a terminal of 80 columns and 24 rows.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(
            if: ChildProcess.find("python3") != nil && ChildProcess.find("bash") != nil,
            "There is no Python, which makes the terminal, or no bash, which runs jobs on it."))
    struct TerminalTests {
        @Test func keysWorkAndTerminalModesAreRestored() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("well") }
            let end = try await ChildProcess.run(
                try #require(ChildProcess.find("python3")),
                ["-c", Self.script, ChildProcess.product("apihealth").path, server.url("/").absoluteString])
            #expect(end.output.hasSuffix("all is well"), "\(end.output)\n\(end.errors)")
        }

        /// Types what a person types, and waits for what is shown.
        private static let script = #"""
            import fcntl, os, pty, re, select, struct, sys, termios, time
            program, url = sys.argv[1:]
            child, terminal = pty.fork()
            if child == 0:
                os.environ.update(TERM="xterm", PS1="$ ", HISTFILE="/dev/null")
                os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
            seen = b""

            def size(columns, rows):
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

            def wait(text):
                """Waits for a text behind what was waited for before, and returns what came until then."""
                global seen
                text, end = text.encode(), time.monotonic() + 120
                while text not in seen:
                    if time.monotonic() > end or not select.select([terminal], [], [], 120)[0]: sys.exit(f"no {text!r} in {seen[-3000:]!r}")
                    seen += os.read(terminal, 65536)
                before, seen = seen.split(text, 1)
                return before.decode(errors="replace")

            def type(text): os.write(terminal, text.encode())

            def is_raw(): return not termios.tcgetattr(terminal)[3] & (termios.ICANON | termios.ECHO)

            def check(fact, name):
                if not fact: sys.exit(f"failed: {name}")

            def same_modes(mark):
                type(f'[ "$before" = "$(stty -g)" ] && echo same-"{mark}"\n')
                wait(f"same-{mark}\r\n")

            def start():
                type(f'"{program}" watch {url} --every 50ms\n')
                wait("\x1b[?1049h\x1b[?25l")
                wait("q quits")
                check(is_raw(), "keys are read one by one")

            def left():
                before = wait("\x1b[?1049l\x1b[?25h")
                check("\x1b[?1049h" not in before, "the screen is left once")

            size(80, 24)
            type('ulimit -c 0; before=$(stty -g); echo go-"on"\n')
            wait("go-on\r\n")
            start()
            type("?")
            wait("pauses the screen")
            type("?")
            wait("endpoint")
            type("s")
            wait("slowest first")
            type("p")
            wait("(paused)")
            type("p")
            wait("p pauses")
            for columns, rows in [(60, 10), (120, 40)]:
                size(columns, rows)
                # The frame that is being drawn may be one of the old size.
                for _ in range(3): wait("\x1b[H")
                frame = re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", wait("? helps")).split("\n")
                check(len(frame) <= rows and all(len(line.rstrip("\r")) < columns for line in frame), f"{frame} fits")
            size(80, 24)
            type("\x1a")
            left()
            wait("Stopped")
            same_modes("suspended")
            type("fg\n")
            wait("\x1b[?1049h\x1b[?25l")
            wait("q quits")
            check(is_raw(), "keys are read again")
            type("q")
            left()
            wait("none failing")
            same_modes("quit")
            for key in ["\x03", "\x1c"]:
                start()
                type(key)
                left()
                same_modes("ended" + str(ord(key)))
            # A job in the background draws nothing, and tells of its result.
            type(f'"{program}" watch {url} --every 50ms --count 10 & wait %1; echo job-"over"\n')
            check("\x1b[?" not in wait("none failing"), "nothing is drawn in the background")
            wait("job-over\r\n")
            same_modes("background")
            print("all is well")
            """#
    }
#endif
