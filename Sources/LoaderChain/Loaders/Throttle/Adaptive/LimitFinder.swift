import Synchronization

/// Finds the limit of one server, or of all, by what becomes of the attempts.
///
/// The finder observes all of them itself, so that an attempt costs no allocation. Its state is behind its own lock, and its
/// owner is called under no lock when the limit moves.
final class LimitFinder: HTTPTaskObserver {
    /// The server; nil for all.
    let origin: HTTPOrigin?
    private let clock: TimerClock
    private let state: Locked<State>
    /// The limit as the state has it; threads that report moves read it last, so the last of them knows the latest.
    private let published: Atomic<Int>
    /// The mask of the share, read without the lock: the clock may be a user's, and is read before.
    private let timingMask = Atomic<UInt64>(0)
    private let inFlight = Atomic(0)
    /// Whether there was an attempt that was not timed since that was last asked.
    private let wasUsed = Atomic(false)
    private let listener: LimitListener
    /// Ends the pause.
    private let alarm = Alarm()

    private struct Beginning {
        let instant: TimerInstant
        /// The period of the limit; see ``AdaptiveLimitState``.
        let period: UInt32
    }

    private struct State {
        var limit: AdaptiveLimitState
        /// When each timed attempt under way began, by its task's number.
        var times: [UInt64: Beginning] = [:]
        var share = TimingShare()
        var pauseEnd: TimerInstant?
        var lastUse: TimerInstant
        /// Tasks with this number or a higher one were made in the current period of the limit.
        var firstOfPeriod: UInt64 = 0

        /// Counts a time that was taken, and forgets those of attempts that are not timed any more.
        mutating func count(_ now: TimerInstant) {
            let before = share.mask
            share.count(at: now)
            if share.mask > before { times = [:] }
        }
    }

    init(
        _ settings: AdaptiveLimit, for origin: HTTPOrigin?, at now: TimerInstant, _ clock: TimerClock,
        wallClockOffset: Double, _ listener: LimitListener
    ) {
        self.origin = origin
        self.clock = clock
        self.listener = listener
        published = Atomic(settings.initial)
        let limit = AdaptiveLimitState(settings, wallClockOffset: wallClockOffset)
        state = Locked(State(limit: limit, lastUse: now))
    }

    deinit { alarm.end() }

    /// The limit now; 0 during a pause.
    var current: UInt { UInt(clamping: published.load(ordering: .acquiring)) }

    var status: AdaptiveLimit.Status {
        state.withLock {
            AdaptiveLimit.Status(
                limit: $0.limit.current, reason: $0.limit.reason,
                serviceTime: ($0.limit.service?.mean).map(Self.duration),
                recentTime: $0.limit.recentMean.map(Self.duration))
        }
    }

    /// A duration to the microsecond, because no mean is known better.
    private static func duration(_ seconds: Double) -> Duration {
        .microseconds(Int64((seconds * 1e6).rounded()))
    }

    /// Whether what it knows may be forgotten: it has not been used for long, or knows nothing yet.
    ///
    /// - Parameter isTight: whether there are so many hosts that every host that is not in use is forgotten.
    func isIdle(at now: TimerInstant, isTight: Bool) -> Bool {
        guard inFlight.load(ordering: .relaxed) == 0 else { return false }
        let wasUsed = wasUsed.exchange(false, ordering: .relaxed)
        return state.withLock { state in
            if wasUsed { state.lastUse = now }
            // What ends a pause must stay until then.
            guard state.pauseEnd == nil else { return false }
            let time: Duration = isTight ? .zero : .seconds(state.limit.knowsNothing ? 10 : 600)
            return state.lastUse.duration(to: now) >= time
        }
    }

    // MARK: Attempts

    /// Counts an attempt that is about to be watched, so that this is not taken for idle.
    func enter() { inFlight.wrappingAdd(1, ordering: .relaxed) }

    /// Watches an attempt that has entered and is about to be passed on.
    func watch(_ task: HTTPTask) {
        if isTimed(task) { begin(task.number, at: clock.now) } else { wasUsed.store(true, ordering: .relaxed) }
        task.addObserver(self)
    }

    private func begin(_ number: UInt64, at now: TimerInstant) {
        state.withLock { state in
            // The share may have become smaller just now; what is not part of it will not be taken out again.
            guard TimingShare.includes(number, mask: state.share.mask) else { return }
            state.times[number] = Beginning(instant: now, period: state.limit.period)
        }
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        let inFlight = inFlight.load(ordering: .relaxed)
        // At the end, so that this is not taken for idle before a pause has been noted.
        defer { self.inFlight.wrappingSubtract(1, ordering: .relaxed) }
        var outcome = AttemptOutcome(result, of: task)
        // The target of a redirect says nothing about the server that was asked.
        if origin != nil, outcome == .pushedBack, !result.comes(from: task.request.origin) { outcome = .nothing }
        // A refusal is heeded also if it was not timed.
        if isTimed(task) || outcome == .pushedBack { end(task.number, outcome, result, inFlight) }
        if outcome == .pushedBack { heed(result.response) }
    }

    @inline(__always)
    private func isTimed(_ task: HTTPTask) -> Bool {
        TimingShare.includes(task.number, mask: timingMask.load(ordering: .relaxed))
    }

    private func end(_ number: UInt64, _ outcome: AttemptOutcome, _ result: HTTPResult, _ inFlight: Int) {
        let now = clock.now
        let change = state.withLock { state -> AdaptiveLimit.Change? in
            guard let beginning = state.times.removeValue(forKey: number) else {
                return outcome == .pushedBack ? heedUntimed(&state, number, inFlight, at: now) : nil
            }
            state.lastUse = now
            state.count(now)
            timingMask.store(state.share.mask, ordering: .relaxed)
            let seconds = now.seconds - beginning.instant.seconds
            let end: AdaptiveLimitState.End =
                switch outcome {
                case .served: .served(after: result.secondsToHead(orAfter: seconds))
                // Part of it may have been a pause between two attempts.
                case .givenUp: result.attempts > 1 ? .nothing : .givenUp(after: seconds)
                case .pushedBack: .pushedBack
                case .nothing: .nothing
                }
            return changing(&state) { $0.limit.end(end, of: beginning.period, inFlight: inFlight, at: now.seconds) }
        }
        if let change { listener.receive(change, of: self) }
    }

    /// Heeds a refusal of which only the task's number is known.
    ///
    /// A task that was made in this period was also sent in it. Others may have been sent before the limit moved.
    @inline(never)
    private func heedUntimed(
        _ state: inout State, _ number: UInt64, _ inFlight: Int, at now: TimerInstant
    ) -> AdaptiveLimit.Change? {
        guard number >= state.firstOfPeriod else { return nil }
        state.lastUse = now
        return changing(&state) {
            $0.limit.end(.pushedBack, of: $0.limit.period, inFlight: inFlight, at: now.seconds)
        }
    }

    /// Changes the state under its lock, and returns how that has moved the limit.
    @inline(__always)
    private func changing(_ state: inout State, _ body: (inout State) -> Void) -> AdaptiveLimit
        .Change?
    {
        let (before, period) = (state.limit.current, state.limit.period)
        body(&state)
        if state.limit.period != period { state.firstOfPeriod = TaskIdentity.following }
        let after = state.limit.current
        return after == before ? nil : moved(&state, from: before, to: after)
    }

    @inline(never)
    private func moved(_ state: inout State, from before: Int, to after: Int) -> AdaptiveLimit.Change? {
        published.store(after, ordering: .releasing)
        guard let reason = state.limit.reason else { return nil }
        return AdaptiveLimit.Change(host: origin?.description, from: before, to: after, reason: reason)
    }

    // MARK: Pauses

    private static var longestPause: Duration { .seconds(60) }

    /// Pauses for the time that a refusal asks for.
    @inline(never)
    private func heed(_ refusal: HTTPResponse?) {
        let asked = RetryAfter.delay(of: refusal, now: clock.timers.date)
        guard asked > .zero else { return }
        let end = clock.now.advanced(by: min(asked, Self.longestPause))
        let change = state.withLock { state in
            state.pauseEnd = max(end, state.pauseEnd ?? end)
            return changing(&state) { $0.limit.pause() }
        }
        if let change { listener.receive(change, of: self) }
        setAlarm()
    }

    private func setAlarm() {
        alarm.set(on: clock.timers, for: { state.withLock(\.pauseEnd) }) { [weak self] in self?.endPause() }
    }

    private func endPause() {
        let now = clock.now
        let change = state.withLock { state -> AdaptiveLimit.Change? in
            // A later refusal may have made the pause longer.
            guard let end = state.pauseEnd, end <= now else { return nil }
            state.pauseEnd = nil
            return changing(&state) { $0.limit.resume() }
        }
        if let change { listener.receive(change, of: self) }
        setAlarm()
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// The seconds from the start of the transfer to the response's head, or those in which the whole attempt was made.
    ///
    /// Nil if they say nothing about the server: after redirects, which are requests of their own; and if a loader below has
    /// tried several times, and the last time was not measured.
    fileprivate func secondsToHead(orAfter seconds: Double) -> Double? {
        let metrics = response?.metrics
        if let metrics, metrics.redirects > 0 { return nil }
        guard let time = metrics?.timeToFirstByte else { return attempts > 1 ? nil : seconds }
        return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
    }
}

extension TimerInstant {
    /// The seconds since the clock's start.
    fileprivate var seconds: Double { Double(nanoseconds) * 1e-9 }
}

/// The attempts that are timed: all of them, or a share that gives some thousand times a second.
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

    @inline(__always)
    static func includes(_ number: UInt64, mask: UInt64) -> Bool {
        // Mixed, as tasks and their attempts may have numbers in a pattern.
        mask == 0 || (number &* SplitMix64.step) >> 40 & mask == 0
    }

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
