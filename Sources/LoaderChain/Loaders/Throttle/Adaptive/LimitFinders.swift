import LoaderChainPlatformFoundation
import Synchronization

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
    /// How many tasks were passed on while the watch has seen no attempt; negative once it has.
    private let unseen = Atomic(0)
    /// The number of hosts from which on those that are not in use are forgotten.
    private static var mostHosts: Int { 4_096 }

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

    /// Watches a task that is about to be passed on, unless its attempts are.
    func watchUnwatched(_ task: HTTPTask) {
        guard haveWatch.load(ordering: .relaxed) else { return watch(task) }
        let unseen = unseen.load(ordering: .relaxed)
        // One more or less does not matter, but nothing undoes that it was seen.
        if unseen >= 0 { _ = self.unseen.compareExchange(expected: unseen, desired: unseen + 1, ordering: .relaxed) }
    }

    /// Notes that an ``AttemptWatch`` has seen an attempt.
    func noteSeen() {
        if unseen.load(ordering: .relaxed) >= 0 { unseen.store(.min, ordering: .relaxed) }
    }

    /// Whether there is an ``AttemptWatch`` that has seen no attempt of many tasks, because it stands where none of them comes.
    var watchIsElsewhere: Bool { unseen.load(ordering: .relaxed) > 100 }

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
            let isTight = hosts.count >= Self.mostHosts
            return hosts.withEntry(
                of: origin,
                orMake: {
                    LimitFinder(
                        settings, for: origin, at: now, clock, wallClockOffset: wallClockOffset, listener)
                },
                sweeping: { finder in
                    let isIdle = finder.isIdle(at: now, isTight: isTight)
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

    /// Lets the throttle forget the limits of hosts whose finders are gone.
    private func forget(_ origins: [HTTPOrigin]) {
        guard !origins.isEmpty else { return }
        listener.forget(origins)
        // Another thread may have made new ones, and what they have found must hold.
        let new = hosts.withLock { hosts in origins.compactMap { hosts.all[$0] } }
        for finder in new { listener.adopt(finder) }
    }

    var statusOfHosts: [String: AdaptiveLimit.Status] {
        // Copied under the lock: the table itself would be changed in place as soon as this thread has let go of it.
        let finders = hosts.withLock { Array($0.all) }
        return Dictionary(finders.map { ($0.key.description, $0.value.status) }) { first, _ in first }
    }
}

/// Passes the moves of adaptive limits to their throttle, and then to the program.
final class LimitListener: @unchecked Sendable {
    // Set once, before any other thread knows this; the finders must not keep the throttle that keeps them.
    weak var throttle: Throttle?
    private let onEvent: (@Sendable (Throttle.Event) -> Void)?

    init(_ onEvent: (@Sendable (Throttle.Event) -> Void)?) { self.onEvent = onEvent }

    /// Called when a finder has moved its limit, under no lock.
    func receive(_ change: AdaptiveLimit.Change, of finder: LimitFinder) {
        throttle?.adopt(finder, raises: change.to > change.from)
        onEvent?(Throttle.Event(change))
    }

    /// Lets the throttle adopt what a finder has found, without a call of the program.
    func adopt(_ finder: LimitFinder) { throttle?.adopt(finder, raises: true) }

    /// Called when the limits of hosts were forgotten that were not used for long.
    func forget(_ origins: [HTTPOrigin]) { throttle?.forgetLimits(of: origins) }
}
