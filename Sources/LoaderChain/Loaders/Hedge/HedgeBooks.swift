/// What a hedge knows about all requests: their kinds, the budget, the hosts that push back, and what has happened.
struct HedgeBooks {
    /// How many kinds are told apart; those that were used longest ago are forgotten.
    static var mostKinds: Int { 128 }

    private(set) var kinds = RecentTable<RequestKind, HedgeKind>(capacity: mostKinds)
    private(set) var share: HedgeShare
    private(set) var pauses = HedgePauses()
    private(set) var snapshot = Hedge.Snapshot()

    init(_ settings: Hedge.Settings) {
        share = HedgeShare(share: settings.share, burst: settings.burst)
    }

    /// A request that may be hedged has come; returns its kind.
    mutating func arrive(_ key: RequestKind, from host: @autoclosure () -> HTTPOrigin) -> HedgeKind {
        snapshot.requests += 1
        share.noteRequest()
        return kinds.value(of: key) { HedgeKind(of: host()) }
    }

    /// Takes a hedge from the budget, or says what speaks against it.
    ///
    /// - Parameters:
    ///   - timeLeft: how long the request may still take; nil for any time.
    ///   - usualTime: how long half of its kind take at most.
    mutating func takeHedge(
        to host: HTTPOrigin, timeLeft: Duration?, usualTime: Duration?, at now: TimerInstant
    ) -> Hedge.Suppression? {
        if pauses.isPaused(host, at: now) { return .pushback }
        if let timeLeft, timeLeft < usualTime ?? .zero { return .deadline }
        return share.take() ? nil : .budget
    }

    /// Gives back a hedge that was not sent.
    mutating func giveBack() { share.giveBack() }

    /// Hedges nothing at a host until `end`.
    mutating func pause(_ host: HTTPOrigin, until end: TimerInstant, at now: TimerInstant) {
        pauses.pause(host, until: end, at: now)
    }

    mutating func count(_ kind: Hedge.Event.Kind) { snapshot.count(kind) }

    /// Forgets how long responses take.
    mutating func forgetKinds() { kinds.removeAll() }
}
