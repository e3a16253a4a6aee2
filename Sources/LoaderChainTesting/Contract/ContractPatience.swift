import Dispatch
import LoaderChain

/// How long a check waits for an event that a correct loader brings about soon.
///
/// Time alone says little on a busy machine. So the time is followed by a number of turns, each of which goes through the threads
/// that loaders use: what had been waiting there has run before the check gives up. Only a loader that keeps one of its promises
/// too late, or never, costs this time.
struct ContractPatience: Sendable {
    let time: Duration
    /// More than any loader takes for one task.
    private static let turns = 100
    /// How long the turns may take altogether, in seconds.
    ///
    /// While many tests share a few threads, one turn may take about as long as a test. So only threads that are blocked for
    /// good exhaust this.
    private static let longestDelay = 300.0

    /// Waits until `isOver` holds, and looks again whenever `wait` returns, which waits for an event until a deadline.
    func wait(until isOver: () -> Bool, _ wait: (DispatchTime) -> Void) -> Bool {
        let deadline = DispatchTime.now() + Double(time / .seconds(1))
        while DispatchTime.now() < deadline {
            if isOver() { return true }
            wait(deadline)
        }
        let last = deadlineOfTurns
        for _ in 0..<Self.turns {
            if isOver() { return true }
            guard Self.takeTurn(until: last) else { break }
            wait(.now())
        }
        return isOver()
    }

    /// When to give up on threads: those that have not run until then are blocked for good.
    var deadlineOfTurns: DispatchTime { .now() + Self.longestDelay }

    /// Takes all turns on the threads that loaders use, like a wait that gives up.
    func takeAllTurns() { Self.takeTurns(Self.turns, until: deadlineOfTurns) }

    /// Goes some times through the threads that loaders use, so that what waits there runs.
    static func takeTurns(_ count: Int, until deadline: DispatchTime = .now() + 1) {
        for _ in 0..<count {
            guard takeTurn(until: deadline) else { return }
        }
    }

    /// Goes once through the threads of dispatch queues and of Swift's tasks; false if one of them has no thread left.
    static func takeTurn(until deadline: DispatchTime) -> Bool {
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { Task.detached { isOver.signal() } }
        return isOver.wait(timeout: deadline) == .success
    }
}

/// Wakes the threads of a check when something happens, so that they wait for events and not for time.
final class ContractSignal: Sendable {
    private struct State {
        var events = 0
        /// A wake for each thread that waits.
        var waiting: [DispatchSemaphore] = []
    }
    private let state = Locked(State())

    var events: Int { state.withLock(\.events) }

    /// Notes an event, from any thread.
    func raise() {
        let waiting = state.withLock { state in
            state.events += 1
            return replace(&state.waiting, with: [])
        }
        for wake in waiting { wake.signal() }
    }

    /// Waits for an event after the first `events`, and returns false if none comes by `deadline`.
    func wait(after events: Int, until deadline: DispatchTime) -> Bool {
        let wake = DispatchSemaphore(value: 0)
        let mustWait = state.withLock { state in
            guard state.events == events else { return false }
            state.waiting.append(wake)
            return true
        }
        guard mustWait, wake.wait(timeout: deadline) == .timedOut else { return true }
        return state.withLock { state in
            state.waiting.removeAll { $0 === wake }
            return state.events != events
        }
    }
}

extension ContractCheck {
    /// Runs `body` on a thread that runs nothing else, which a blocking loader may occupy forever; `fail` is told if there is none left.
    ///
    /// Swift's tasks and dispatch queues share a few threads with the rest of the program. On one of those, a loader could be blamed
    /// for what keeps them busy.
    func startThread(orSay fail: (String) -> Void, _ body: @escaping @Sendable () -> Void) {
        do throws(SystemError) {
            try SystemThread(stackSize: stackSize, body).detach()
        } catch {
            fail("the system has no thread left for the check: \(error)")
        }
    }
}
