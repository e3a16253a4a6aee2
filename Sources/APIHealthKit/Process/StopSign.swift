import Dispatch
import LoaderChain
import LoaderChainPlatformC

/// A request to stop the program, which its parts wait for and then finish their work.
///
/// A second Ctrl-C ends the process immediately, without the summary.
final class StopSign: Sendable {
    private struct State {
        var isRequested = false
        var nextNumber = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        /// The signal sources, which must stay alive.
        var sources: [any DispatchSourceSignal] = []
    }

    private let state = Locked(State())

    init() {}

    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Requests a stop, and returns whether this was the first request.
    @discardableResult
    func request() -> Bool {
        let (isFirst, waiting) = state.withLock { state in
            defer {
                state.isRequested = true
                state.waiting = [:]
            }
            return (!state.isRequested, state.waiting)
        }
        for continuation in waiting.values { continuation.resume() }
        return isFirst
    }

    /// Waits until a stop is requested or the task is cancelled.
    func wait() async {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard !state.isRequested, !Task.isCancelled else { return false }
                    state.waiting[number] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// Turns SIGINT and SIGTERM into requests to stop, and a closed pipe into an error of `write`.
    func listenToSignals() {
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the source fires.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in
                guard let self, !request(), number == SIGINT else { return }
                // Shells report a signal as 128 plus its number. A terminal gets its cursor back.
                if Output.standardError.isTerminal { Output.standardError.write(Escape.showCursor + "\n") }
                _exit(128 + number)
            }
            source.resume()
            return source
        }
        state.withLock { $0.sources = sources }
    }
}
