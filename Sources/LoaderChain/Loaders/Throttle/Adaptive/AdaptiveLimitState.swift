import LoaderChainPlatformC

/// How many attempts a server takes at once, found out without threads or clocks: times are arguments, in seconds.
///
/// **The signals.** A server says in two ways that it has too much to do. It refuses, which is clear and needs one attempt; or
/// it lets requests wait, which shows in the mean of many. The limit heeds a refusal at once, and judges times only by windows
/// of at least 20.
///
/// **The phases.**
/// - *searching*, in the beginning and after a breakdown: the limit doubles with each window until responses are late.
/// - *steady*: the limit moves a little with each window, so that the mean time is a bit above the service time. That bit is
///   relatively larger for a low limit: of several clients, those with a low limit then gain slots from those with a high one.
/// - *measuring*: now and then the limit is lowered for a moment, just so far that no queue is left, to see how long the service
///   takes. Clients do so at the same moments of the wall clock and for as long, which follow from the service time alone; so
///   none of them takes the queue of another for the service. Moments with few attempts are put together.
///
/// **Periods.** Each move of the limit begins a period. An attempt counts for the period in which it began: what was sent before
/// a move says nothing about the limit after it. So a hundred refusals of what was sent at once lower the limit once.
package struct AdaptiveLimitState {
    enum Phase: Hashable { case searching, steady, measuring }

    package enum End: Hashable {
        /// The server answered, after this number of seconds if that was measured.
        case served(after: Double?)
        /// The caller left after this number of seconds; nothing is known of the server but that it takes longer.
        case givenUp(after: Double)
        /// The server could not take it.
        case pushedBack
        /// The outcome says nothing about the server.
        case nothing
    }

    /// The highest limit and the greatest mean of some windows.
    private struct Top {
        let limit: Double
        let mean: Double

        init(_ before: Top?, _ limit: Double, _ mean: Double) {
            self.limit = max(limit, before?.limit ?? 0)
            self.mean = max(mean, before?.mean ?? 0)
        }
    }

    private let minimum: Double
    private let maximum: Double
    /// What is added to the time of this clock to make that of the wall clock, as it was in the beginning.
    private let wallClockOffset: Double

    private(set) var phase = Phase.searching
    /// The limit, apart from measurements and pauses.
    private(set) var limit: Double
    /// The reason of the last move.
    private(set) var reason: AdaptiveLimit.Reason?
    package private(set) var period: UInt32 = 0
    private(set) var service: ServiceTime?
    /// The mean time of the last window that was full.
    private(set) var recentMean: Double?
    private(set) var isPaused = false

    private var window = AttemptWindow()
    /// The number of attempts of this period that are not judged, because they began behind those of the period before.
    private var unjudged = 0
    private var nextMeasurement = 0.0
    private var measurementEnd = 0.0
    /// The part of the limit that is left in the measurement under way.
    private var depth = 1.0
    /// What was measured before without being enough.
    private var measured = AttemptWindow()
    /// Whether a window was judged since the last measurement.
    private var isJudged = false
    /// Whether the last window came near the limit.
    private var isUsed = false
    /// The limit at which the server last pushed back, if it did.
    private var refusedLimit = Double.infinity
    /// Whether a window without a refusal has come since.
    private var isCalm = true
    /// The highest limit and the greatest mean since responses became late.
    private var decline: Top?
    /// Whether the last measurement was as late as what came before it, although less was sent.
    private var serviceSeemsSlower = false
    /// How many windows in a row were as late as before although far less was sent.
    private var windowsWithoutEffect = 0
    /// The share of attempts that were given up late though no fewer can be under way.
    private var loss = 0.0

    package init(_ settings: AdaptiveLimit, wallClockOffset: Double = 0) {
        minimum = Double(settings.minimum)
        maximum = Double(settings.maximum)
        limit = Double(settings.initial)
        self.wallClockOffset = wallClockOffset
    }

    /// The constants of the search, by what they decide; the simulation in the benchmarks shows what they achieve together.
    private enum Tuning {
        /// What part of a response's time may be spent waiting, for a limit of one; and by which power of the limit that falls.
        ///
        /// The steeper it falls, the more evenly clients share: a client with a low limit tolerates more. It cannot fall
        /// steeply all the way, or much would wait at low limits and nothing at high ones. It falls most where least is known:
        /// the higher the limit, the better the service is measured.
        static let waitingForOne = 0.69
        static let waitingFalls = 0.42
        /// How much of the uncertainty of the service time is tolerated as well.
        static let doubt = 1.0
        /// How far below the limit at which nothing waits a measurement goes; and the least part that it leaves of a limit.
        static let depth = 0.8
        static let leastDepth = 0.5
        /// How many attempts are enough for a measurement.
        static let fewestMeasured = 30.0
        /// The least time from one measurement to the next, in services; and which part of it a measurement takes.
        static let servicesBetween = 64.0
        static let rarity = 6.0
        /// A measurement is as late as before if it takes more than this part of the time before it.
        static let unchanged = 0.85
        /// So many windows without effect show that the service has become slower, and not that an old queue is still there.
        static let patience = 3
        /// How many attempts a window has, at least and by the limit.
        static let fewestJudged = 20.0
        static let judgedPerSlot = 2.0
        static let fewestSearched = 8.0
        /// A window this late is judged as soon as it has the fewest.
        static let veryLate = 2.0
        /// The part of a move that is made even if it may be chance.
        static let leastGain = 0.2
        /// The part of the limit that a refusal leaves.
        static let backOff = 0.8
    }

    var knowsNothing: Bool { service == nil && reason == nil }

    /// How many attempts may be under way now.
    package var current: Int { isPaused ? 0 : bound }

    /// The same without a pause.
    private var bound: Int {
        Int(max(minimum, (phase == .measuring ? limit * depth : limit).rounded()))
    }

    // MARK: Attempts

    /// Notes the end of an attempt that began in `period`; `inFlight` were under way when it ended, itself included.
    @inline(__always)
    package mutating func end(_ end: End, of period: UInt32, inFlight: Int, at now: Double) {
        window.mostInFlight = max(window.mostInFlight, inFlight)
        switch end {
        case .served(let seconds):
            if phase == .measuring, now >= measurementEnd { leaveMeasurement() }
            if phase == .steady, now >= nextMeasurement { beginMeasurement(at: now) }
            if let seconds, !seconds.isNaN, period == self.period {
                count(min(max(seconds, Self.shortestTime), Self.longestTime))
            }
        case .givenUp(let seconds):
            if phase == .measuring, now >= measurementEnd { leaveMeasurement() }
            if period == self.period { giveUp(after: min(seconds, Self.longestTime)) }
        case .pushedBack:
            // What was sent before the limit moved could not know of it.
            if period == self.period { shrinkByRefusal() }
        case .nothing:
            break
        }
    }

    /// A microsecond and eleven days: times beyond are none, and their squares are still numbers.
    private static let shortestTime = 1e-6
    private static let longestTime = 1e6

    /// Counts an attempt whose caller has left.
    ///
    /// If it had taken longer than the service by then, its time is that of a response that is late, and in truth even later. Otherwise
    /// it says nothing: callers may leave whenever they like.
    @inline(never)
    private mutating func giveUp(after seconds: Double) {
        if seconds > service?.mean ?? 0 { count(seconds, isGivenUp: true) }
    }

    @inline(__always)
    private mutating func count(_ seconds: Double, isGivenUp: Bool = false) {
        if unjudged > 0 {
            unjudged -= 1
            return
        }
        window.add(seconds, isGivenUp: isGivenUp)
        if isVeryLate {
            if phase == .measuring { endMeasurement(window) } else { judge() }
        } else if phase != .measuring, window.count >= wanted {
            judge()
        }
    }

    /// How many attempts a window has.
    private var wanted: Double {
        switch phase {
        case .searching: max(Tuning.fewestSearched, Double(bound))
        case .steady, .measuring: max(Tuning.fewestJudged, Tuning.judgedPerSlot * Double(bound))
        }
    }

    private var isVeryLate: Bool {
        guard phase != .searching, window.count >= Tuning.fewestJudged, let service else { return false }
        return window.sum > window.count * Tuning.veryLate * service.mean
    }

    // MARK: Pauses

    /// Lets nothing pass; the limit is the same afterwards.
    package mutating func pause() {
        isPaused = true
        reason = .paused
    }

    package mutating func resume() {
        guard isPaused else { return }
        isPaused = false
        reason = .resumed
    }

    // MARK: Moving

    private mutating func move(to new: Double, _ reason: AdaptiveLimit.Reason, _ phase: Phase) {
        let before = bound
        limit = min(max(new, minimum), maximum)
        self.phase = phase
        if bound != before {
            self.reason = reason
            period &+= 1
            unjudged = bound
        }
        window = AttemptWindow()
    }

    private mutating func shrinkByRefusal() {
        // In a measurement, a lower limit was in force, so the server refused that lower number.
        let refused = phase == .measuring ? limit * depth : limit
        if isCalm {
            refusedLimit = refused
            isCalm = false
        }
        let before = bound
        move(to: refused * Tuning.backOff, .pushedBack, refused <= 2 ? .searching : .steady)
        // Also where rounding leaves the limit as it was, what was sent together counts once.
        if bound == before { period &+= 1 }
    }

    // MARK: Measuring

    private mutating func beginMeasurement(at now: Double) {
        guard let service else { return }
        let due = nextMeasurement
        let length = scheduleMeasurement(after: now, service)
        measurementEnd = now + length
        // A limit that is not reached causes no queue; every window is a measurement then. Requests that come only after the
        // moment are a burst, which must not meet a lower limit because of a measurement. And if the windows take longer than
        // the time between two moments, none would ever be full.
        guard isUsed, isJudged, limit > minimum, due == 0 || now < due + length else { return }
        isJudged = false
        depth = max(Tuning.leastDepth, Tuning.depth * (1 - waiting))
        move(to: limit, .measuring, .measuring)
    }

    /// The part of a response's time that may be spent waiting.
    private var waiting: Double { Tuning.waitingForOne * exp(-Tuning.waitingFalls * log(limit)) }

    /// Sets the next measurement for a moment that clients of the same server choose too, by the wall clock, and returns how
    /// long one takes.
    private mutating func scheduleMeasurement(after now: Double, _ service: ServiceTime) -> Double {
        let interval = Tuning.servicesBetween * service.shortest
        // A power of two, so that clients that know the service differently meet all the same.
        let shared = interval.significand > 1 ? interval.binade * 2 : interval.binade
        let clock = now + wallClockOffset
        let past = ((clock + shared / 2) / shared).rounded(.down)
        nextMeasurement = (past + 1) * shared - wallClockOffset
        return shared / Tuning.rarity
    }

    /// Goes back to the limit, and learns the service time if enough was measured.
    private mutating func leaveMeasurement() {
        measured.add(window)
        if measured.count >= Tuning.fewestMeasured {
            endMeasurement(measured)
        } else {
            move(to: limit, .measured, .steady)
        }
    }

    private mutating func endMeasurement(_ window: AttemptWindow) {
        measured = AttemptWindow()
        guard !isMostlyGivenUp(window) else { return move(to: limit, .measured, .steady) }
        let isSlower = isLate(window) && window.mean > Tuning.unchanged * (recentMean ?? .infinity)
        // Once may be what is left of a queue that was just there.
        if isSlower, serviceSeemsSlower {
            adopt(window)
        } else {
            serviceSeemsSlower = isSlower
            learn(window)
        }
        move(to: limit, .measured, .steady)
    }

    /// Whether a measurement is later than the service takes, and not by chance.
    private func isLate(_ window: AttemptWindow) -> Bool {
        guard let service, window.mean > 1.3 * service.mean else { return false }
        return log(window.mean / service.mean) > 2 * (window.uncertainty + service.uncertainty).squareRoot()
    }

    /// Whether responses are as late as before although far less is sent: then they do not wait for each other.
    private func hasNoEffect(_ limit: Double, _ window: AttemptWindow, since top: Top?) -> Bool {
        guard let top, limit < 0.45 * top.limit else { return false }
        return log(window.mean / top.mean) > 0.4 * log(limit / top.limit)
    }

    private mutating func learn(_ window: AttemptWindow) {
        if service == nil { service = ServiceTime(window) } else { service?.learn(window) }
    }

    /// Takes a window for the service time, whatever that was.
    private mutating func adopt(_ window: AttemptWindow) {
        service = ServiceTime(window)
        measured = AttemptWindow()
        decline = nil
        windowsWithoutEffect = 0
        serviceSeemsSlower = false
    }

    // MARK: Judging

    private mutating func judge() {
        let full = replace(&window, with: AttemptWindow())
        isJudged = true
        isCalm = true
        recentMean = full.mean
        isUsed = 2 * full.mostInFlight > bound
        loss = min(loss, full.shareGivenUp)
        if isMostlyGivenUp(full) { return shrinkForLeaving(full) }
        guard let service else {
            learn(full)
            if full.mostInFlight >= bound { move(to: limit * 2, .underLimit, .searching) }
            return
        }
        // Half of the limit causes no queue, so these are times of the service.
        guard isUsed else { return learn(full) }

        let isReached = full.mostInFlight >= bound
        let doubt = 1 + Tuning.doubt * service.uncertainty.squareRoot()
        let goal = doubt * service.mean / full.mean + waiting
        if phase == .searching {
            let isLate = goal * (1 + 2 * full.uncertainty.squareRoot()) < 1
            if !isLate, limit < refusedLimit * Tuning.backOff {
                if isReached { move(to: limit * 2, .underLimit, .searching) }
                return
            }
            phase = .steady
        }
        let (ratio, chance) = (log(goal), full.uncertainty + service.uncertainty)
        let part = exp(ratio * max(Tuning.leastGain, ratio * ratio / (ratio * ratio + chance)))
        if goal < 1 {
            shrink(to: limit * max(0.5, part), full)
        } else {
            decline = nil
            windowsWithoutEffect = 0
            if isReached { move(to: min(limit * part, limit + longestStep), .underLimit, .steady) }
        }
    }

    /// Whether most attempts were given up, apart from those that are given up whatever the limit is.
    private func isMostlyGivenUp(_ window: AttemptWindow) -> Bool { 2 * window.shareGivenUp > 1 + loss }

    /// Shrinks because most callers have left, unless that cannot help; those that were answered are quick, and say little of the others.
    private mutating func shrinkForLeaving(_ window: AttemptWindow) {
        // With few under way, callers have not left because of a queue.
        guard isUsed else { return }
        guard bound == Int(minimum) else { return move(to: limit / 2, .delayed, service == nil ? phase : .steady) }
        // If nobody is answered, there is nothing to learn.
        guard window.shareGivenUp < 1 else { return }
        loss = window.shareGivenUp
        adopt(window)
    }

    /// Shrinks because responses are late, unless shrinking has not helped.
    private mutating func shrink(to new: Double, _ window: AttemptWindow) {
        decline = Top(decline, limit, window.mean)
        if bound == Int(minimum) { return adopt(window) }
        guard hasNoEffect(limit, window, since: decline) else {
            windowsWithoutEffect = 0
            return move(to: new, .delayed, .steady)
        }
        windowsWithoutEffect += 1
        if windowsWithoutEffect >= Tuning.patience { adopt(window) }
    }

    /// The most that a window adds, which is least near the limit at which the server pushed back.
    private var longestStep: Double {
        limit > 0.85 * refusedLimit && limit < 1.15 * refusedLimit ? 1 : max(1, limit.squareRoot())
    }
}
