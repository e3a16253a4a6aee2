/// The circuits of a breaker: one for all servers, or one for each.
///
/// A circuit that was not used for the length of its window is idle, and is removed to save memory: it no longer counts any
/// call. If it was open, that is forgotten too; the next call, which would have been a probe, is then an ordinary call.
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

    struct Answer {
        /// The observer of its end; nil if it is refused.
        var watch: CircuitWatch?
        /// When the next call can pass; nil if this one does.
        var end: TimerInstant?
        /// A change to report, and the circuit that reports it.
        let change: CircuitBreaker.Change?
        let circuit: Circuit
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
        let (admission, change) = place.circuit.admit(at: now)
        switch admission {
        case .passes(let period):
            if place.watch.period != period { place.watch = CircuitWatch(place.circuit, period: period) }
            return Answer(watch: place.watch, change: change, circuit: place.circuit)
        case .refused(let end):
            return Answer(end: end, change: change, circuit: place.circuit)
        }
    }

    /// The circuit of a server, if there is one; that of all servers for nil.
    mutating func circuit(of origin: HTTPOrigin?) -> Circuit? {
        guard let origin else { return common.circuit }
        return places.withEntry(of: origin) { $0.circuit }
    }

    var openings: Int { policy.openings.count }

    func circuits(perHost: Bool) -> [Circuit] { perHost ? places.all.values.map(\.circuit) : [common.circuit] }
}

/// The circuit of one server, or of all servers; verdicts and the change hook are user code, and run under no lock.
final class Circuit: Sendable {
    /// The server; nil for all.
    let origin: HTTPOrigin?
    private let policy: Policy
    private let state: Locked<CircuitState>

    /// The settings that all circuits of a breaker share.
    struct Policy: Sendable {
        let settings: CircuitBreaker.Settings
        let verdict: @Sendable (HTTPResult) -> CircuitBreaker.Verdict
        let onChange: (@Sendable (CircuitBreaker.Change) -> Void)?
        let timers: any Timers
        let random: RandomSource
        let openings = Tally()
    }

    init(of origin: HTTPOrigin?, _ policy: Policy, at now: TimerInstant) {
        self.origin = origin
        self.policy = policy
        state = Locked(CircuitState(policy.settings, at: now))
    }

    /// The server as users read it; nil for all.
    var host: String? { origin?.description }

    var name: CircuitBreaker.State { state.withLock { $0.name } }

    func calls(at now: TimerInstant) -> CircuitCalls { state.withLock { $0.calls(at: now) } }

    func isIdle(at now: TimerInstant) -> Bool { state.withLock { $0.isIdle(at: now) } }

    /// Admits or refuses a call; report a change when no lock is held.
    func admit(at now: TimerInstant) -> (admission: CircuitState.Admission, change: CircuitBreaker.Change?) {
        changing { $0.admit(at: now) }
    }

    /// Counts the result of a call that began in the phase of that number, and was sent to `asked`, perhaps another server than at first.
    func record(_ result: HTTPResult, from asked: HTTPOrigin, of period: UInt64) {
        var verdict = policy.verdict(result)
        // The target of a redirect says nothing about the server that was asked.
        if origin != nil, verdict == .failure, !result.comes(from: asked) { verdict = .nothing }
        let now = policy.timers.now
        report(changing { $0.record(verdict, of: period, at: now, jitteredBy: policy.random) }.change)
    }

    func reset() {
        report(changing { $0.close() }.change)
    }

    func report(_ change: CircuitBreaker.Change?) {
        guard let change else { return }
        if change.to == .open { policy.openings.increment() }
        policy.onChange?(change)
    }

    private func changing<Result>(_ body: (inout CircuitState) -> Result) -> (Result, change: CircuitBreaker.Change?) {
        let (result, before, after) = state.withLock { state in
            let before = state.name
            let result = body(&state)
            return (result, before, state.name)
        }
        let change = before == after ? nil : CircuitBreaker.Change(host: host, from: before, to: after)
        return (result, change)
    }
}

/// Observes the calls of one phase of a circuit, which all share it, so that a call costs no allocation.
final class CircuitWatch: HTTPTaskObserver {
    let period: UInt64
    private let circuit: Circuit

    init(_ circuit: Circuit, period: UInt64) {
        self.circuit = circuit
        self.period = period
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) {
        circuit.record(result, from: task.request.origin, of: period)
    }
}
