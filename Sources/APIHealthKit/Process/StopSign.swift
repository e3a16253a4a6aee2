import Dispatch
import Foundation
import LoaderChain
import LoaderChainPlatformC

/// A request to stop the program, for which its parts wait and then finish their work; a second Ctrl-C ends it at once, without a summary.
final class StopSign: Sendable {
    private struct State {
        var isRequested = false
        /// The signal sources, which must stay alive.
        var sources: [any DispatchSourceSignal] = []
        /// What has the terminal, which it must give back whenever the process stops.
        var screen: LiveScreen?
    }

    private let state = Awaited(State())

    var isRequested: Bool { state.read(\.isRequested) }

    /// Requests a stop, and returns whether this was the first request.
    @discardableResult
    func request() -> Bool { state.change { !replace(&$0.isRequested, with: true) } }

    /// Waits until a stop is requested or the task is cancelled.
    func wait() async { await state.wait(until: \.isRequested) }

    /// A task that cancels another one on a request to stop; cancel it once the other has ended.
    func cancelling<Value: Sendable, Fault: Error>(_ task: Task<Value, Fault>) -> Task<Void, Never> {
        Task {
            await wait()
            task.cancel()
        }
    }

    /// Lets a screen give the terminal back before a signal stops or ends the process.
    func guardTerminal(of screen: LiveScreen) { state.change { $0.screen = screen } }

    /// Turns SIGINT and SIGTERM into requests to stop, and a closed pipe into an error of `write`; SIGTSTP and SIGQUIT do what they
    /// always do once the terminal is as it was.
    func listenToSignals() {
        signal(SIGPIPE, SIG_IGN)
        let registration = DispatchGroup()
        let sources = [SIGINT, SIGTERM, SIGTSTP, SIGQUIT].map { number in
            // The default action would come before the source fires.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in
                guard let self else { return }
                let screen = state.read(\.screen)
                switch number {
                case SIGTSTP:
                    screen?.suspend()
                    Self.performDefaultAction(of: number)
                    screen?.resume()
                case SIGQUIT:
                    screen?.end()
                    Self.performDefaultAction(of: number)
                default:
                    guard !request(), number == SIGINT else { return }
                    screen?.end()
                    // Shells report a signal as 128 plus its number.
                    _exit(128 + number)
                }
            }
            registration.enter()
            source.setRegistrationHandler { registration.leave() }
            source.resume()
            return source
        }
        state.change { $0.sources = sources }
        // A signal that came before its source is there would be ignored.
        registration.wait()
    }

    /// Does what a signal does by itself, and returns if the process goes on.
    ///
    /// It does that on a thread of its own: those of a dispatch queue cannot be sent a signal on Apple systems, and the process would
    /// get it instead, and with it the source, again and again.
    private static func performDefaultAction(of number: CInt) {
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            sendToThisThread(number)
            isOver.signal()
        }
        isOver.wait()
    }

    /// SIGSTOP would also stop a process that nobody can wake, which has no shell above it.
    private static func sendToThisThread(_ number: CInt) {
        var (mine, before) = (sigset_t(), sigset_t())
        sigemptyset(&mine)
        sigaddset(&mine, number)
        // On Linux, the handler of the source's signals is an action itself.
        var action = sigaction()
        sigaction(number, nil, &action)
        signal(number, SIG_DFL)
        // A new thread blocks what the thread before it blocks, and those of a dispatch queue block signals.
        pthread_sigmask(SIG_UNBLOCK, &mine, &before)
        // To this thread: another one might be woken too late for it, when the signal is ignored again.
        raise(number)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        sigaction(number, &action, nil)
    }
}
