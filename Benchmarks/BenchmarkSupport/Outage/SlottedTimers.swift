import LoaderChain
import LoaderChainTesting

/// Timers for a great many clients, which fire all timers within the same few milliseconds together.
///
/// A million clients have millions of timers, and keeping them in exact order would take nearly all of the time.
final class SlottedTimers: Sendable {
    private typealias Action = @Sendable () -> Void

    private let timers: ManualTimers
    private let slotLength: Int64
    private let slots = Locked<[Int64: [Action]]>([:])

    /// Makes timers that run their actions up to one slot late; with a slot of zero, on time.
    init(_ timers: ManualTimers, slot: Duration) {
        self.timers = timers
        slotLength = Int64(slot / .nanoseconds(1))
    }

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        let deadline = timers.now.advanced(by: delay)
        guard slotLength > 0 else {
            timers.schedule(at: deadline, action)
            return
        }
        let slot = (deadline.nanoseconds + slotLength - 1) / slotLength
        let isFirst = slots.withLock { slots in
            slots[slot, default: []].append(action)
            return slots[slot]?.count == 1
        }
        if isFirst { timers.schedule(at: TimerInstant(nanoseconds: slot * slotLength)) { self.run(slot) } }
    }

    private func run(_ slot: Int64) {
        for action in slots.withLock({ $0.removeValue(forKey: slot) }) ?? [] { action() }
    }
}
