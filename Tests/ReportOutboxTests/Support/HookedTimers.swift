import LoaderChain
import LoaderChainTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Manual timers in whose calls something else may happen, as on another thread.
final class HookedTimers: Timers {
    let timers = ManualTimers()
    private let hook = Locked<@Sendable () -> Void>({})

    /// Sets what happens before the date is told.
    func onDate(_ action: @escaping @Sendable () -> Void) { hook.withLock { $0 = action } }

    var now: TimerInstant { timers.now }

    var date: Date {
        hook.withLock { $0 }()
        return timers.date
    }

    func schedule(at deadline: TimerInstant, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        timers.schedule(at: deadline, action)
    }
}
