import LoaderChain

/// Where writes wait for room.
///
/// A write that finds no room has asked for the ``moment`` before, and waits only if no room was made since. So no write misses the
/// room that was made between its try and its wait.
final class RoomGate: Sendable {
    private struct State {
        var moment: UInt64 = 0
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// A number that changes each time room is made.
    var moment: UInt64 { state.withLock { $0.moment } }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Notes that room was made: all waiting writes try again.
    func open() {
        let waiters = state.withLock { state in
            state.moment += 1
            return replace(&state.waiters, with: [:])
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until room is made, unless it was made since a moment, or until the Swift task is cancelled.
    func wait(since moment: UInt64) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.moment == moment else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                // A task is marked as cancelled before its handler runs, which may have found nothing to resume.
                if !waits { continuation.resume() } else if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) { state.withLock { $0.waiters.removeValue(forKey: id) }?.resume() }
}
