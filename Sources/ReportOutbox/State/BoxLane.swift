import LoaderChain

/// What waits for one server, and whether it may be asked.
struct BoxLane {
    var waiting = WaitingReports()
    var inFlight = 0
    /// Until when nothing is sent there, in the box's time.
    var pausedUntil = TimerInstant.distantPast
    /// How often in a row it was not reached.
    var misses = 0

    /// Which kinds of reports it does not want for a while.
    var limits = KindLimits()

    /// The refusals since it last took a report, as long as all were the same.
    private var refusals: (loss: ReportLoss, count: Int)?
    /// How often in a row it was paused for its refusals.
    private(set) var refusalPauses = 0

    /// Whether it has refused so much that one report at a time finds out if it takes any.
    var isProbed: Bool { refusalPauses > 0 }

    /// How many attempts it has answered since one was not, or since the first.
    private var answers = 0

    /// How many may be sent at once.
    ///
    /// A server that was not reached, or that refuses everything, is tried with one alone. Any other gets one more with each answer,
    /// and never the last place, so that one which hangs does not keep the others from being asked.
    func room(_ most: Int) -> Int {
        min(misses > 0 || isProbed ? 1 : answers + 1, most > 1 ? most - 1 : most) - inFlight
    }

    /// Notes whether it answered an attempt, whatever it said.
    mutating func noteAnswer(_ isOne: Bool) { answers = isOne ? min(answers, .max - 1) + 1 : 0 }

    /// Notes that it took a report.
    mutating func accept() {
        misses = 0
        refusals = nil
        refusalPauses = 0
    }

    /// Notes that it refused a report, and returns whether that says more about the server than about the report.
    mutating func refuse(_ loss: ReportLoss, limit: Int) -> Bool {
        misses = 0
        // Until it takes one, another reason to refuse does not make it a server that can be asked.
        if isProbed { return true }
        let count = refusals.map { $0.loss == loss ? $0.count + 1 : 1 } ?? 1
        refusals = (loss, count)
        return count >= limit
    }

    /// Pauses it for its refusals, unless it is paused already, as by another report that was under way.
    mutating func pauseForRefusals(now: TimerInstant, delay: (_ pauses: Int) -> Duration) {
        guard pausedUntil <= now else { return }
        refusalPauses += 1
        pausedUntil = now.advanced(by: delay(refusalPauses))
    }
}
