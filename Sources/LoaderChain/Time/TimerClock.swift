/// The monotonic clock of some timers, read without a call through a protocol where it is the system's.
final class MetricClock: Sendable {
    let timers: any Timers
    let isSystem: Bool

    init(_ timers: any Timers) {
        self.timers = timers
        isSystem = timers is SystemTimers
    }

    @inline(__always)
    var now: TimerInstant { isSystem ? .uptime : timers.now }

    /// Whether instants of both compare.
    func isSame(as other: MetricClock) -> Bool { isSystem ? other.isSystem : timers === other.timers }
}
