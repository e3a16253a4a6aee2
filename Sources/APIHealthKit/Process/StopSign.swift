import Dispatch
import LoaderChain
import LoaderChainPlatformC

/// A request to stop the program, which its parts wait for and then finish their work.
///
/// A second Ctrl-C ends the process immediately, without the summary.
final class StopSign: Sendable {
    private struct State {
        var isRequested = false
        /// The signal sources, which must stay alive.
        var sources: [any DispatchSourceSignal] = []
        var suspensions = 0
    }

    private let state = Awaited(State())

    init() {}

    var isRequested: Bool { state.read(\.isRequested) }

    /// How often the program was suspended, as by Ctrl-Z, and how often it went on; so it is odd while it is being suspended.
    var suspensions: Int { state.read(\.suspensions) }

    /// Requests a stop, and returns whether this was the first request.
    @discardableResult
    func request() -> Bool { state.change { !replace(&$0.isRequested, with: true) } }

    /// Waits until a stop is requested or the task is cancelled.
    func wait() async { await state.wait(until: \.isRequested) }

    /// A task that cancels another one on a request to stop; it is to be cancelled once that one has ended.
    func cancelling<Value: Sendable, Fault: Error>(_ task: Task<Value, Fault>) -> Task<Void, Never> {
        Task {
            await wait()
            task.cancel()
        }
    }

    /// Turns SIGINT and SIGTERM into requests to stop, and a closed pipe into an error of `write`; SIGTSTP suspends the process once
    /// the terminal has its cursor back.
    func listenToSignals() {
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGINT, SIGTERM, SIGTSTP].map { number in
            // The default action would come before the source fires.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in
                guard let self else { return }
                if number == SIGTSTP { return suspend() }
                guard !request(), number == SIGINT else { return }
                Self.writeToTerminal(Escape.showCursor + "\n")
                // Shells report a signal as 128 plus its number.
                _exit(128 + number)
            }
            source.resume()
            return source
        }
        state.change { $0.sources = sources }
    }

    /// Does what the signal does by itself, and returns when the process goes on.
    ///
    /// SIGSTOP would also stop a process that nobody can wake, which has no shell above it.
    private func suspend() {
        state.change { $0.suspensions += 1 }
        Self.writeToTerminal(Escape.showCursor)
        var (mine, before) = (sigset_t(), sigset_t())
        sigemptyset(&mine)
        sigaddset(&mine, SIGTSTP)
        // On Linux, what hears signals for the source is an action itself.
        var action = sigaction()
        sigaction(SIGTSTP, nil, &action)
        signal(SIGTSTP, SIG_DFL)
        // Threads of a dispatch queue block signals.
        pthread_sigmask(SIG_UNBLOCK, &mine, &before)
        // To this thread: another one might be woken too late for it, when the signal is ignored again.
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        sigaction(SIGTSTP, &action, nil)
        state.change { $0.suspensions += 1 }
    }

    /// Writes to the terminal that the live screen is on, or to one that has the errors alone.
    ///
    /// It waits for no other thread of the program, which may be about to write too.
    private static func writeToTerminal(_ text: String) {
        let outputs = [Output.standardOutput(whenLost: {}), Output.standardError]
        outputs.first { $0.isTerminal }?.write(text)
    }
}
