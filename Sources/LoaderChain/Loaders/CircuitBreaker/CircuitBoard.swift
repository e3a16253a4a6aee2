/// The circuits of a breaker: one for all servers, or one for each.
///
/// A circuit that was not used for the length of its window is idle, and is removed to make room: it counts nothing any
/// more. If it was open, that is forgotten too; the next call, which would have been a probe, is then an ordinary one.
struct CircuitBoard {
    private let policy: Circuit.Policy
    private var common: Place
    private var places = HostTable<HTTPOrigin, Place>()

    /// A circuit, and the observer of the calls of its present phase.
    private struct Place {
        let circuit: Circuit
        var watch: CircuitWatch

        init(of origin: HTTPOrigin?, _ policy: Circuit.Policy, at now: TimerInstant) {
            circuit = Circuit(of: origin, policy, at: now)
            watch = CircuitWatch(circuit, period: 0)
        }
    }

    init(_ policy: Circuit.Policy, at now: TimerInstant) {
        self.policy = policy
        common = Place(of: nil, policy, at: now)
    }

    /// What to do with a call.
    struct Answer {
        /// The observer of its end; nil if it is refused.
        var watch: CircuitWatch?
        /// Until when it is refused; nil if that depends on the probes that are in flight.
        var end: TimerInstant?
        /// A change to report, and the circuit that reports it.
        let change: CircuitBreaker.Change?
        let circuit: Circuit
        /// The state in which the circuit has decided.
        let state: CircuitBreaker.State
    }

    /// Admits or refuses a call to a server; nil for the circuit of all servers.
    mutating func admit(_ origin: HTTPOrigin?, at now: TimerInstant) -> Answer {
        guard let origin else { return Self.admit(to: &common, at: now) }
        return places.withEntry(
            of: origin, orMake: { Place(of: origin, policy, at: now) }, sweeping: { $0.circuit.isIdle(at: now) }
        ) {
            Self.admit(to: &$0, at: now)
        }
    }

    private static func admit(to place: inout Place, at now: TimerInstant) -> Answer {
        let (admission, change, state) = place.circuit.admit(at: now)
        switch admission {
        case .passes(let period):
            if place.watch.period != period { place.watch = CircuitWatch(place.circuit, period: period) }
            return Answer(watch: place.watch, change: change, circuit: place.circuit, state: state)
        case .refused(let end):
            return Answer(end: end, change: change, circuit: place.circuit, state: state)
        }
    }

    /// The circuit of a server, if there is one; that of all servers for nil.
    mutating func circuit(of origin: HTTPOrigin?) -> Circuit? {
        guard let origin else { return common.circuit }
        return places.withEntry(of: origin) { $0.circuit }
    }

    /// How often a circuit has opened.
    var openings: Int { policy.openings.count }

    var circuits: [Circuit] { [common.circuit] + places.all.values.map(\.circuit) }
}
