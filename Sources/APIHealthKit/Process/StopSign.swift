import Dispatch
import LoaderChain

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Asks the program to stop, once and for all; whoever has something to finish finishes it.
///
/// A second Ctrl-C ends the process at once, for people who do not want to wait for the summary.
final class StopSign: Sendable {
    private struct State {
        var isRequested = false
        var nextNumber = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        /// What must stay alive to hear signals.
        var sources: [any DispatchSourceSignal] = []
    }

    private let state = Guarded(State())

    init() {}

    /// Whether somebody asked.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Asks, and answers whether nobody had asked before.
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

    /// Waits until somebody asks, or until the task is cancelled.
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

    /// Takes SIGINT and SIGTERM for the wish to stop, and lets a reader that is gone be an error instead of the end.
    func listenToSignals() {
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGINT, SIGTERM].map { number in
            // Ignored, or it would end the process before anybody hears of it.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in
                guard let self, !request(), number == SIGINT else { return }
                // 128 and the number is what shells make of a signal. A terminal gets its cursor back.
                if Output.standardError.isTerminal { Output.standardError.write(Escape.showCursor + "\n") }
                _exit(128 + number)
            }
            source.resume()
            return source
        }
        state.withLock { $0.sources = sources }
    }
}
