import Dispatch
import LoaderChain

/// Wakes the thread of a check when something happens, so that it waits for events and not for time.
final class ContractSignal: Sendable {
    private struct State {
        var events = 0
        var isAwaited = false
    }
    private let state = Locked(State())
    private let wakes = DispatchSemaphore(value: 0)

    /// How many events there were so far.
    var events: Int { state.withLock { $0.events } }

    /// Notes an event, from any thread.
    func raise() {
        let wasAwaited = state.withLock { state in
            state.events += 1
            return replace(&state.isAwaited, with: false)
        }
        if wasAwaited { wakes.signal() }
    }

    /// Waits for an event after the first `events`, and returns false if none comes by `deadline`.
    ///
    /// One thread may wait at a time.
    func wait(after events: Int, until deadline: DispatchTime) -> Bool {
        let mustWait = state.withLock { state in
            state.isAwaited = state.events == events
            return state.isAwaited
        }
        guard mustWait else { return true }
        if wakes.wait(timeout: deadline) == .success { return true }
        let isLate = state.withLock { replace(&$0.isAwaited, with: false) }
        // An event came together with the deadline, and its signal must not stay for the next wait.
        if !isLate { wakes.wait() }
        return !isLate
    }
}
