/// Looks at the interfaces of a machine, again and again while that is watched.
///
/// What it has seen counts for ``interval``, so that a request costs no call of the system.
final class InterfacePoll: NetworkSource {
    /// How often it looks.
    static let interval = Duration.seconds(1)

    private let timers: any Timers
    private let look: @Sendable () -> Bool
    private let state = Locked(State())

    private struct State {
        var network = NetworkState()
        /// When it has looked last.
        var lookedAt: TimerInstant?
        var timer: (any ScheduledTimer)?
    }

    /// Makes a source that asks `look` whether there is a network.
    init(timers: any Timers, look: @escaping @Sendable () -> Bool) {
        self.timers = timers
        self.look = look
    }

    deinit { state.withLock { replace(&$0.timer, with: nil) }?.cancel() }

    var isAvailable: Bool {
        let now = timers.now
        let known: Bool? = state.withLock { state in
            guard let lookedAt = state.lookedAt, lookedAt.duration(to: now) < Self.interval else { return nil }
            return state.network.isAvailable
        }
        return known ?? lookAgain()
    }

    func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch {
        let (number, isFirst) = state.withLock { state in
            let isFirst = state.network.isUnwatched
            return (state.network.add(onChange), isFirst)
        }
        if isFirst { scheduleLook() }
        return NetworkWatch { [weak self] in self?.unwatch(number) }
    }

    private func unwatch(_ number: Int) {
        let (listener, timer) = state.withLock { state in
            let listener = state.network.remove(number)
            return (listener, state.network.isUnwatched ? replace(&state.timer, with: nil) : nil)
        }
        timer?.cancel()
        withExtendedLifetime(listener) {}
    }

    /// Looks, tells the listeners of a change, and returns what it has seen.
    @discardableResult
    private func lookAgain() -> Bool {
        let isAvailable = look()
        let now = timers.now
        let listeners = state.withLock { state in
            state.lookedAt = now
            return state.network.note(isAvailable)
        }
        for listener in listeners { listener(isAvailable) }
        return isAvailable
    }

    private func scheduleLook() {
        let timer = timers.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            lookAgain()
            scheduleLook()
        }
        // Only the newest timer counts; there is none where nothing is watched.
        let unneeded: (any ScheduledTimer)? = state.withLock { state in
            if state.network.isUnwatched { return timer }
            return replace(&state.timer, with: timer)
        }
        unneeded?.cancel()
    }
}
