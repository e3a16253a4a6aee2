/// The state of a circuit, decided without threads, clocks or callbacks.
///
/// The phases:
/// - **closed**: every call passes, and its verdict is counted in a sliding window. When a large enough share of enough
///   calls has failed, the circuit opens.
/// - **open**: no call passes until an instant. The first one after it is a probe.
/// - **half-open**: a few probes pass. When all have succeeded, the circuit closes; when one fails, it opens for
///   longer. While none ends, another passes from time to time: a probe may be a download of an hour.
///
/// No timer is needed: the time is read at each call. Each phase has a number, and the verdict on a call that began in
/// an earlier phase is not counted.
struct CircuitState {
    private enum Phase {
        case closed
        case open(until: TimerInstant)
        case halfOpen(successes: Int)
    }

    private let settings: CircuitBreaker.Settings
    private var phase = Phase.closed
    private var period: UInt64 = 0
    private var window: SlidingWindow<CircuitCalls>
    /// How many calls of the present phase are in flight.
    private var running = 0
    /// How long it was open the last time, without the jitter.
    private var pause = Duration.zero
    /// When another probe passes although enough are in flight.
    private var nextProbe: TimerInstant
    /// The number of times that it has opened since it was last closed.
    private var openings = 0
    private var lastUse: TimerInstant

    init(_ settings: CircuitBreaker.Settings, at now: TimerInstant) {
        self.settings = settings.inRange
        window = SlidingWindow(settings.window)
        lastUse = now
        nextProbe = now
    }

    var name: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    enum Admission: Equatable {
        /// The call passes; its verdict belongs to the phase of this number.
        case passes(period: UInt64)
        /// The call is refused until this instant, if no probe ends before.
        case refused(until: TimerInstant)
    }

    mutating func admit(at now: TimerInstant) -> Admission {
        lastUse = max(lastUse, now)
        switch phase {
        case .closed: break
        case .open(let end) where now < end: return .refused(until: end)
        case .open: enter(.halfOpen(successes: 0))
        case .halfOpen(let successes) where running + successes < settings.probes: break
        case .halfOpen: if now < nextProbe { return .refused(until: nextProbe) }
        }
        running += 1
        if case .halfOpen = phase { nextProbe = now.advanced(by: pause > .zero ? pause : .seconds(1)) }
        return .passes(period: period)
    }

    /// Counts the verdict on a call that began in the phase of that number.
    mutating func record(
        _ verdict: CircuitBreaker.Verdict, of period: UInt64, at now: TimerInstant, jitteredBy random: RandomSource
    ) {
        guard period == self.period else { return }
        running -= 1
        lastUse = max(lastUse, now)
        switch (phase, verdict) {
        case (_, .nothing): break  // A probe without a verdict is replaced by another.
        case (.open, _): break  // No call begins in an open phase, so none ends in it.
        case (.closed, .success): count(CircuitCalls(all: 1, failed: 0), at: now)
        case (.closed, .failure):
            count(CircuitCalls(all: 1, failed: 1), at: now)
            if hasFailedTooOften { open(at: now, random) }
        case (.halfOpen(let successes), .success):
            phase = .halfOpen(successes: successes + 1)
            if successes + 1 >= settings.probes { close() }
        case (.halfOpen, .failure): open(at: now, random)
        }
    }

    /// Forgets everything.
    mutating func close() {
        enter(.closed)
        window = SlidingWindow(settings.window)
        openings = 0
    }

    /// Whether the circuit can be removed: its last call is so long ago that none counts any more.
    func isIdle(at now: TimerInstant) -> Bool {
        var quietSince = lastUse
        if case .open(let end) = phase { quietSince = max(quietSince, end) }
        return running == 0 && now >= quietSince.advanced(by: settings.window)
    }

    mutating func calls(at now: TimerInstant) -> CircuitCalls {
        window.move(to: now)
        return window.sum
    }

    private mutating func enter(_ phase: Phase) {
        self.phase = phase
        period += 1
        running = 0
    }

    private mutating func count(_ calls: CircuitCalls, at now: TimerInstant) {
        window.move(to: now)
        window.add(calls)
    }

    private var hasFailedTooOften: Bool {
        let calls = window.sum
        return calls.all >= settings.minimumNumberOfCalls
            && Double(calls.failed) >= settings.failureRatio * Double(calls.all)
    }

    private mutating func open(at now: TimerInstant, _ random: RandomSource) {
        let longest = settings.maximumOpenDuration
        var duration = settings.openDuration
        for _ in 0..<min(openings, 64) where duration < longest { duration = min(longest, duration * 2) }
        pause = duration
        if settings.jitter > 0 {
            duration += random.duration(in: .zero...(duration * settings.jitter))
        }
        enter(.open(until: now.advanced(by: duration)))
        openings += 1
    }
}

struct CircuitCalls: AdditiveArithmetic {
    var all = 0
    var failed = 0

    static var zero: CircuitCalls { CircuitCalls() }

    static func + (left: CircuitCalls, right: CircuitCalls) -> CircuitCalls {
        CircuitCalls(all: left.all + right.all, failed: left.failed + right.failed)
    }

    static func - (left: CircuitCalls, right: CircuitCalls) -> CircuitCalls {
        CircuitCalls(all: left.all - right.all, failed: left.failed - right.failed)
    }
}
