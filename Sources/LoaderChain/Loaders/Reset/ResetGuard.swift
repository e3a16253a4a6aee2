import Dispatch
import Synchronization

/// Refuses every task while the chain is being reset.
///
/// Put it at the head of the chain: a reset starts there, so that tasks cannot start between the reset of one loader and that
/// of the next.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> throttle --> terminal
/// ```
///
/// A task that arrives during a reset fails with ``HTTPError/Code/resetInProgress``. Resets may overlap; the guard
/// opens when the last has finished, on no particular thread or queue. A task that ignores its cancel keeps it shut;
/// with ``HTTPLoader/reset(within:timers:)``, it opens when the time is up.
public final class ResetGuard: HTTPLoader, @unchecked Sendable {
    private let resets = Atomic(0)
    private let groups = Locked<[DispatchGroup]>([])

    public override func load(task: HTTPTask) {
        if resets.load(ordering: .acquiring) > 0, runningResets > 0 { return refuseDuringReset(task) }
        super.load(task: task)
    }

    /// Refuses tasks from now on, until the whole reset has ended.
    public override func reset(with group: DispatchGroup) {
        group.enter()
        let whole = ResetWalk.walk(of: group).whole
        groups.withLock { $0.append(whole) }
        resets.wrappingAdd(1, ordering: .releasing)
        whole.notify(queue: .global()) { self.forget(whole) }
        super.reset(with: group)
        group.leave()
    }

    /// How many resets are running, if any.
    public override var details: String {
        let running = runningResets
        return running == 0 ? "" : "resets \(running)"
    }

    /// How many groups are not empty yet.
    ///
    /// A reset is over at the moment when its group is empty. The notification that forgets it comes later, perhaps
    /// after a caller that waited for the same reset has loaded the next request.
    private var runningResets: Int {
        groups.withLock { $0.count { $0.wait(timeout: .now()) == .timedOut } }
    }

    private func forget(_ group: DispatchGroup) {
        groups.withLock { groups in
            if let index = groups.firstIndex(where: { $0 === group }) { groups.remove(at: index) }
        }
        resets.wrappingSubtract(1, ordering: .releasing)
    }
}
