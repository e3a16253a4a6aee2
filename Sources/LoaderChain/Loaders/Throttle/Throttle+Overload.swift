import Synchronization

extension Throttle {
    /// How hard it is to get a slot, as it was at the last look; none unless the throttle has a rule for an ``ThrottleOverload``.
    ///
    /// An app may ask for less while it is high, before its requests are refused:
    ///
    /// ```swift
    /// if throttle.pressure < .elevated { print("there is room for a prefetch") }
    /// ```
    ///
    /// Where hosts or partitions are told apart, it is the highest of all.
    public var pressure: ThrottlePressure { lookout?.pressure ?? .none }

    /// The pressure now, and each time that it changes; a stream that is not read in time skips to the newest.
    ///
    /// ```swift
    /// for await pressure in throttle.pressures { print(pressure >= .elevated ? "ask for less" : "go on") }
    /// ```
    ///
    /// It ends with the throttle.
    public var pressures: AsyncStream<ThrottlePressure> { lookout?.listeners.stream() ?? Self.calm }

    private static var calm: AsyncStream<ThrottlePressure> {
        let listeners = Listeners(latest: ThrottlePressure.none)
        defer { listeners.end() }
        return listeners.stream()
    }

    /// Looks at the waits after a while, unless that is about to happen.
    func watchWaits(_ lookout: ThrottleLookout) {
        guard let number = lookout.set() else { return }
        let timer = timers.schedule(after: lookout.period) { [weak self] in self?.look(number) }
        lookout.keep(timer, of: number)?.cancel()
    }

    /// Looks at the waits, and goes on with that until all is calm.
    private func look(_ number: UInt64) {
        guard let lookout, let rung = lookout.begin(number) else { return }
        let pressure = room.look()
        while let waiter = room.surplus() { shed(waiter) }
        if let change = lookout.end(pressure) {
            lookout.listeners.tell(change)
            room.tell(change)
        }
        lookout.rest()
        if pressure > .none || room.with({ $0.waiting > 0 }) { watchWaits(lookout) }
        // The timer ends here, and not under the lock.
        withExtendedLifetime(rung) {}
    }

    /// Fails a task for which there is no room because of an overload.
    @inline(never)
    func shed(_ waiter: ThrottleWaiter) {
        room.tell(.shed, of: waiter)
        guard let task = waiter.end() else { return }
        let target = lookout?.target ?? .zero
        fail(
            task, .shed,
            reason: """
                Tasks have waited for longer than \(target) for a while, so only those may wait that have a chance soon, and this \
                one had the lowest priority. Ask for less while the throttle's pressure is high, and for this again later
                """)
    }
}

/// When a throttle looks at its waits, and what it has last seen.
///
/// One look begins after the other has ended, so the levels are told in their order.
final class ThrottleLookout: Sendable {
    private struct State {
        var alarm = Alarm()
        var isLooking = false
    }

    let target: Duration
    let period: Duration
    let listeners = Listeners(latest: ThrottlePressure.none)
    private let level = Atomic(ThrottlePressure.none.rawValue)
    private let state = Locked(State())

    init(_ overload: ThrottleOverload) {
        target = overload.target
        period = overload.period
    }

    deinit {
        state.withLock { $0.alarm.clear() }?.cancel()
        listeners.end()
    }

    var pressure: ThrottlePressure { ThrottlePressure(rawValue: level.load(ordering: .relaxed)) }

    /// Returns the number of the next look, for which a timer is to be scheduled; nil if there is one.
    func set() -> UInt64? { state.withLock { $0.isLooking || $0.alarm.isSet ? nil : $0.alarm.set() } }

    /// Keeps the timer of a look; returns it to be cancelled if it is not needed any more.
    func keep(_ timer: any ScheduledTimer, of number: UInt64) -> (any ScheduledTimer)? {
        state.withLock { $0.alarm.keep(timer, of: number) }
    }

    /// Begins a look; nil if it is not the next one.
    func begin(_ number: UInt64) -> Alarm.Rung? {
        state.withLock { state in
            guard let rung = state.alarm.ring(number) else { return nil }
            state.isLooking = true
            return rung
        }
    }

    /// Takes what the look has seen, and returns it if that is new.
    func end(_ pressure: ThrottlePressure) -> ThrottlePressure? {
        level.exchange(pressure.rawValue, ordering: .relaxed) == pressure.rawValue ? nil : pressure
    }

    /// Lets the next look begin.
    func rest() { state.withLock { $0.isLooking = false } }
}
