#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain

    /// The state of a process, with a thread that waits for its end.
    final class ChildLife: Sendable {
        private struct State {
            var end: ChildProcess.End?
            var waiting: [CheckedContinuation<ChildProcess.End, Never>] = []
        }

        private let number: pid_t
        private let state = Locked(State())

        init(_ number: pid_t) {
            self.number = number
            Thread.detachNewThread { [self] in waitForEnd() }
        }

        var end: ChildProcess.End? { state.withLock(\.end) }

        func ended() async -> ChildProcess.End {
            await withCheckedContinuation { continuation in
                let end = state.withLock { state in
                    if state.end == nil { state.waiting.append(continuation) }
                    return state.end
                }
                if let end { continuation.resume(returning: end) }
            }
        }

        func send(_ signal: Int32) {
            // The process id is not reused before the process has been waited for, which happens under this lock too.
            state.withLock { if $0.end == nil { _ = kill(number, signal) } }
        }

        private func waitForEnd() {
            var seen = siginfo_t()
            while waitid(P_PID, id_t(number), &seen, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            let (end, waiting) = state.withLock { state in
                var status: Int32 = 0
                while waitpid(number, &status, 0) == -1, errno == EINTR {}
                let signal = status & 0x7F
                let end: ChildProcess.End = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
                state.end = end
                return (end, replace(&state.waiting, with: []))
            }
            for each in waiting { each.resume(returning: end) }
        }
    }
#endif
