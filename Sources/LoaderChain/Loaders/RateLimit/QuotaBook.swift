/// The quotas that a server has reported, and when the next request may be sent without exceeding them.
///
/// The server counts a request when it handles it, and reports the rest of the quota in the response. Requests that are still running
/// are subtracted from the last report, because the server may have counted them since. A response to a request that was sent before
/// the last report arrived may be older than that report, and only lowers the rest.
///
/// A part of a quota may be used at any time. The rest is used at an even pace, so that it lasts until the quota is reset: the time
/// from the last request to the next is that of an even use of what is left. After the reset, the whole quota counts as left until the
/// next response; if that reports nothing, the quota is forgotten.
struct QuotaBook {
    private struct Quota {
        var report: QuotaReport
        /// What was left by the last report, less the requests that have ended since without a report.
        var left: Int64
        /// The whole quota of a window, and the length of a window, as far as they are known.
        var limit: Int64
        var window: Duration
        /// The time of the reset.
        var end: TimerInstant
        /// How many requests had been sent when the last report arrived; nil if none has arrived since the reset.
        var reportedAfter: UInt64?
    }

    private let settings: RateLimit.ServerQuotas
    private var quotas: [Quota] = []
    private(set) var pauseEnd: TimerInstant
    /// How long the machine sleeps, which the clock of the timers leaves out; nil until the server has reported something.
    private var sleep: SleepMeter?
    /// When a request was sent last, or a report arrived.
    private var lastEvent: TimerInstant
    private var lastPass: TimerInstant
    /// How many requests have been sent.
    private var passed: UInt64 = 0
    private var running: Int64 = 0
    private var runningCost: Int64 = 0

    init(_ settings: RateLimit.ServerQuotas, at now: TimerInstant) {
        self.settings = settings
        (pauseEnd, lastEvent, lastPass) = (now, now, now)
    }

    /// Whether it equals a new book.
    func isIdle(at now: TimerInstant) -> Bool {
        guard running == 0 else { return false }
        // After so long, a request would be sent to ask again in any case.
        if lastEvent.advanced(by: settings.maximumPause) <= now { return true }
        return pauseEnd <= now && quotas.allSatisfy { $0.end <= now }
    }

    var hasQuotas: Bool { !quotas.isEmpty }

    func isQuiet(at now: TimerInstant) -> Bool { quotas.isEmpty && pauseEnd <= now }

    // MARK: Sending

    /// The time at which a request may be sent, which is not later than `now` if that is at once.
    mutating func turn(for cost: Int64, at now: TimerInstant) -> TimerInstant {
        move(to: now)
        guard !isQuiet(at: now) else { return now }
        let turn = quotas.reduce(pauseEnd) { max($0, self.turn(for: cost, in: $1, at: now)) }
        // No pause is longer than the settings allow, whatever the server reports: then a request is sent to ask again.
        return min(turn, lastEvent.advanced(by: settings.maximumPause))
    }

    private func turn(for cost: Int64, in quota: Quota, at now: TimerInstant) -> TimerInstant {
        let isCost = quota.report.unit == .cost
        // A request that costs more than the whole quota needs all of it.
        let need = isCost ? min(cost, quota.limit) : 1
        let left = quota.left - (isCost ? runningCost : running)
        guard need > 0 else { return now }
        guard left >= need else { return quota.end }
        let reserve =
            Double(quota.limit) * (1 - settings.usableBurst) * min(1, (now.duration(to: quota.end) / quota.window))
        if Double(left - need) >= reserve { return now }
        let pace = lastPass.duration(to: quota.end) * (Double(need) / Double(left + need))
        return min(quota.end, lastPass.advanced(by: pace))
    }

    /// Notes that a request is sent, and returns its number; 0 if the server has reported no quota, so that it need not be counted.
    mutating func pass(_ cost: Int64, at now: TimerInstant) -> UInt64 {
        guard hasQuotas else { return 0 }
        passed += 1
        running += 1
        runningCost += cost
        (lastPass, lastEvent) = (now, now)
        return passed
    }

    // MARK: The ends of requests

    struct End {
        /// Its number; 0 if the server had reported no quota when it was sent.
        var number: UInt64
        var expectedCost: Int64
        var cost: Int64
        /// Whether the server may have counted it.
        var wasSent: Bool
        var wasAnswered: Bool
        var reports: [QuotaReport] = []
        /// The time for which the server asks for no request.
        var pause = Duration.zero
        /// The present by both clocks, if the server reports something.
        var reading: ClockReading?
    }

    mutating func note(_ end: End, at now: TimerInstant) {
        if end.number > 0 {
            running -= 1
            runningCost -= end.expectedCost
        }
        guard hasQuotas || !end.reports.isEmpty || end.pause > .zero else { return }
        if let reading = end.reading {
            if sleep == nil { sleep = SleepMeter(reading) }
            countSleep(until: reading)
        }
        move(to: now)
        for index in quotas.indices.reversed()
        where !end.reports.contains(where: { $0.name == quotas[index].report.name }) {
            if end.wasAnswered, quotas[index].reportedAfter == nil {
                quotas.remove(at: index)
            } else if end.wasSent {
                quotas[index].left -= quotas[index].report.unit == .cost ? end.cost : 1
            }
        }
        for report in end.reports { note(report, of: end.number, at: now) }
        if end.pause > .zero { pauseEnd = max(pauseEnd, now.advanced(by: min(end.pause, settings.maximumPause))) }
        lastEvent = now
    }

    /// Moves all times back by how long the machine has slept since the last call, and returns whether it has.
    @discardableResult
    mutating func countSleep(until reading: ClockReading) -> Bool {
        guard let (passed, slept) = sleep?.read(reading), slept > .zero else { return false }
        let (back, lastRead) = (Duration.zero - slept, reading.instant.advanced(by: .zero - passed))
        pauseEnd = pauseEnd.advanced(by: back)
        // What came later may have come after the sleep.
        if lastEvent <= lastRead { lastEvent = lastEvent.advanced(by: back) }
        if lastPass <= lastRead { lastPass = lastPass.advanced(by: back) }
        for index in quotas.indices where quotas[index].reportedAfter != nil {
            quotas[index].end = quotas[index].end.advanced(by: back)
        }
        return true
    }

    private mutating func note(_ report: QuotaReport, of number: UInt64, at now: TimerInstant) {
        // A shorter window would only set alarms.
        let window = max(report.window ?? report.timeLeft, report.timeLeft, .milliseconds(100))
        // Rounding must not use up much of a window that is known to be short.
        let rounding = report.window.map { min(report.rounding, $0 / 10) } ?? report.rounding
        var new = Quota(
            report: report, left: report.remaining, limit: max(1, report.limit ?? report.remaining + 1), window: window,
            end: now.advanced(by: report.timeLeft + rounding), reportedAfter: passed)
        guard let index = quotas.firstIndex(where: { $0.report.name == report.name }) else {
            if quotas.count < Self.most { quotas.append(new) }
            return
        }
        let old = quotas[index]
        if report.partition == old.report.partition {
            if report.window == nil { new.window = max(new.window, old.window) }
            if report.limit == nil { new.limit = max(new.limit, old.limit) }
            // It may be older than the last report, unless it is of a later window. No response takes half a window.
            if let sent = old.reportedAfter, number <= sent, new.end < old.end.advanced(by: old.window / 2) {
                new.left = min(new.left, old.left)
                new.end = max(new.end, old.end)
            }
        }
        quotas[index] = new
    }

    private static let most = 16

    /// Resets the quotas whose time has come.
    ///
    /// They stay until the next response: the length of a window may be a guess that is too short.
    private mutating func move(to now: TimerInstant) {
        for index in quotas.indices where quotas[index].end <= now {
            quotas[index].reportedAfter = nil
            quotas[index].left = quotas[index].limit
            quotas[index].end = now.advanced(by: quotas[index].window)
        }
    }

    var description: String {
        let texts = quotas.map { quota in
            let left = max(0, quota.left - (quota.report.unit == .cost ? runningCost : running))
            let name = quota.report.name.isEmpty ? "" : ASCII.printable(quota.report.name) + " "
            return "\(name)\(left) of \(quota.limit)"
        }
        return texts.joined(separator: ", ")
    }
}
