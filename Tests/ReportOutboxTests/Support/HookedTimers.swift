import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting

/// Manual timers that can run a hook during a call, like another thread.
final class HookedTimers: Timers {
    let timers = ManualTimers()
    private let hook = Locked<@Sendable () -> Void>({})

    /// Sets the hook that runs before the date is returned.
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
