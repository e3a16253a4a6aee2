import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The limits that a throttle finds: one for all hosts, one for each, or both.
final class LimitFinders: Sendable {
    /// What is found for all hosts together.
    let total: LimitFinder?
    private let perHost: AdaptiveLimit?
    private let hosts = Locked(HostTable<HTTPOrigin, LimitFinder>())
    private let clock: TimerClock
    private let wallClockOffset: Double
    private let listener: LimitListener
    /// Whether an ``AttemptWatch`` sees the attempts, so that the throttle need not take its tasks for them.
    let haveWatch = Atomic(false)

    /// Makes finders for the limits that are adaptive; nil if none is.
    init?(
        total: ThrottleLimit, perHost: ThrottleLimit?, timers: any Timers, _ listener: LimitListener
    ) {
        guard total.adaptive != nil || perHost?.adaptive != nil else { return nil }
        clock = TimerClock(timers)
        // Clients of one server measure at the same moments, and the wall clock is what they share.
        let now = clock.now
        wallClockOffset = timers.date.timeIntervalSince1970 - Double(now.nanoseconds) * 1e-9
        self.listener = listener
        self.perHost = perHost?.adaptive
        self.total = total.adaptive.map { [clock, wallClockOffset] in
            LimitFinder($0, for: nil, at: now, clock, wallClockOffset: wallClockOffset, listener)
        }
    }

    /// Watches an attempt that is about to be passed on.
    func watch(_ task: HTTPTask) {
        if let total {
            total.enter()
            total.watch(task)
        }
        if let perHost { enteredFinder(for: task.request.throttleOrigin, perHost).watch(task) }
    }

    /// The finder of a host, in which an attempt has entered: before another thread can take it for idle.
    private func enteredFinder(for origin: HTTPOrigin, _ settings: AdaptiveLimit) -> LimitFinder {
        let now = clock.now
        var forgotten: [LimitFinder] = []
        let finder = hosts.withLock { hosts in
            hosts.withEntry(
                of: origin,
                orMake: {
                    LimitFinder(
                        settings, for: origin, at: now, clock, wallClockOffset: wallClockOffset, listener)
                },
                sweeping: { finder in
                    let isIdle = finder.isIdle(at: now)
                    if isIdle { forgotten.append(finder) }
                    return isIdle
                },
                { finder in
                    finder.enter()
                    return finder
                })
        }
        forget(forgotten.compactMap(\.origin))
        return finder
    }

    /// Lets the throttle begin anew with hosts whose finders are gone.
    private func forget(_ origins: [HTTPOrigin]) {
        guard !origins.isEmpty else { return }
        listener.forget(origins)
        // Another thread may have made new ones, and what they have found must hold.
        let new = hosts.withLock { hosts in origins.compactMap { hosts.all[$0] } }
        for finder in new { listener.adopt(finder) }
    }

    /// What is known about the server of each host.
    var statusOfHosts: [String: AdaptiveLimit.Status] {
        let finders = hosts.withLock { $0.all }
        return Dictionary(finders.map { ($0.key.description, $0.value.status) }) { first, _ in first }
    }
}
