/// Which attempts are timed: all of them, or so many that there are some thousand times a second.
///
/// More times than that change no mean, and reading the clock twice is more than half of what an adaptive limit costs. An attempt
/// that is not timed is only counted while it is under way, and heeded if it is refused.
struct TimingShare {
    /// The bits that are zero in the mixed number of an attempt that is timed.
    private(set) var mask: UInt64 = 0
    private var count = 0
    private var since: TimerInstant?

    private static let countedTogether = 64
    /// How long the counted ones may take, at the least and at the most, before the share is made smaller or larger.
    private static let shortest = Duration.milliseconds(16)
    private static let longest = Duration.milliseconds(64)
    private static let greatestMask: UInt64 = 1_023

    /// Whether an attempt is timed.
    @inline(__always)
    static func includes(_ number: UInt64, mask: UInt64) -> Bool {
        // Mixed, as tasks and their attempts may have numbers in a pattern.
        mask == 0 || (number &* SplitMix64.step) >> 40 & mask == 0
    }

    /// Counts a time that was taken.
    mutating func count(at now: TimerInstant) {
        count += 1
        let duration = since?.duration(to: now) ?? .zero
        if since == nil {
            since = now
        } else if duration > Self.longest {
            // However few have come: after a rush it would take hours to wait for all of them.
            var rate = count
            while mask > 0, Self.longest * rate < duration * Self.countedTogether {
                mask /= 2
                rate *= 2
            }
            (count, since) = (0, now)
        } else if count >= Self.countedTogether {
            if duration < Self.shortest { mask = min(2 * mask + 1, Self.greatestMask) }
            (count, since) = (0, now)
        }
    }
}
