/// The monotonic clock of given timers, read without a call through a protocol where the timers are the system's.
final class TimerClock: Sendable {
    let timers: any Timers
    let isSystem: Bool

    init(_ timers: any Timers) {
        self.timers = timers
        isSystem = timers is SystemTimers
    }

    @inline(__always)
    var now: TimerInstant { isSystem ? .uptime : timers.now }

    /// Whether instants of both clocks can be compared.
    func isSame(as other: TimerClock) -> Bool { isSystem ? other.isSystem : timers === other.timers }
}
