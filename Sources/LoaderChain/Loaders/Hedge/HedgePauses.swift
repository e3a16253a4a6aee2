/// The hosts that have asked for fewer requests, and until when nothing is hedged there.
///
/// The number of hosts is bounded: if more of them push back at once, nothing is hedged anywhere for that long.
struct HedgePauses: Sendable {
    static var mostHosts: Int { 256 }

    private var ends: [HTTPOrigin: TimerInstant] = [:]
    private var endForAll: TimerInstant?

    /// How many hosts are kept.
    var count: Int { ends.count }

    /// Hedges nothing at a host until `end`, or until a later end that was noted before.
    mutating func pause(_ host: HTTPOrigin, until end: TimerInstant, at now: TimerInstant) {
        if let known = ends[host] {
            ends[host] = max(known, end)
            return
        }
        if ends.count >= Self.mostHosts { ends = ends.filter { $0.value > now } }
        if ends.count < Self.mostHosts {
            ends[host] = end
        } else {
            endForAll = max(endForAll ?? end, end)
        }
    }

    /// Whether nothing is hedged at a host.
    func isPaused(_ host: HTTPOrigin, at now: TimerInstant) -> Bool {
        if let endForAll, now < endForAll { return true }
        return ends[host].map { now < $0 } ?? false
    }
}
