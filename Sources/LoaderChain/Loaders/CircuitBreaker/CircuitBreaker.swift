import Dispatch

/// Stops requests to a server that fails, and probes carefully whether it has recovered.
///
/// ```swift
/// let breaker = CircuitBreaker(onChange: { print($0.host ?? "", $0.to) })
/// let chain = Retry(strategy: strategy) --> breaker --> RateLimit(requests: 10, per: .seconds(1)) --> terminal
/// ```
///
/// **What it is for.** More requests do not help a server that is down, and a timeout for each request does not help
/// the user. When a large share of the recent requests has failed, the circuit *opens*, and requests fail at once with
/// ``HTTPError/Code/circuitOpen``. After a while it is *half-open*: a probe passes. If it succeeds, the circuit is
/// *closed* again and all requests pass; if not, the circuit stays open for twice as long.
///
/// **Where it belongs.** Below ``Retry``, so that it sees every attempt; its refusals are not transient failures, and
/// are not retried. Below the loader that fills in the host. Above a ``RateLimit``, whose tokens are for requests that
/// are sent. Above loaders that judge responses, so that an unusable response counts as a failure.
///
/// Each server, a host and its port, has a circuit of its own, unless you choose one for all; circuits of servers that are
/// no longer used are removed. A cancelled probe makes room for another one. A reset closes every circuit, and requests that are in flight
/// then are not counted.
public final class CircuitBreaker: HTTPLoader, @unchecked Sendable {
    private let timers: any Timers
    private let isPerHost: Bool
    private let board: Locked<CircuitBoard>

    /// Makes a breaker.
    ///
    /// - Parameters:
    ///   - settings: when a circuit opens, and how it closes again.
    ///   - perHost: whether each server has a circuit of its own, the default; otherwise there is one for all.
    ///   - timers: the clock. No timer is scheduled.
    ///   - random: chooses the jitter.
    ///   - verdict: what a result says about the server; by default ``usualVerdict(on:)``.
    ///   - onChange: called after a circuit has changed its state, on the thread that changed it, under no lock.
    public init(
        _ settings: Settings = Settings(), perHost: Bool = true, timers: any Timers = SystemTimers.shared,
        random: RandomSource = .system,
        verdict: @escaping @Sendable (HTTPResult) -> Verdict = CircuitBreaker.usualVerdict,
        onChange: (@Sendable (Change) -> Void)? = nil
    ) {
        self.timers = timers
        isPerHost = perHost
        let policy = Circuit.Policy(
            settings: settings, verdict: verdict, onChange: onChange, timers: timers, random: random)
        board = Locked(CircuitBoard(policy, at: timers.now))
    }

    /// The state of a server's circuit; without circuits per host, of the one for all.
    ///
    /// - Parameters:
    ///   - host: the host of the server.
    ///   - port: its port, unless that is the scheme's own.
    public func state(of host: String = "", port: Int? = nil) -> State {
        state(of: HTTPOrigin(host: host.lowercased(), port: port))
    }

    /// The state of the circuit that would decide on a request.
    public func state(of request: HTTPRequest) -> State { state(of: request.origin) }

    private func state(of origin: HTTPOrigin) -> State {
        board.withLock { $0.circuit(of: isPerHost ? origin : nil) }?.name ?? .closed
    }

    /// Passes a task on, or refuses it.
    public override func load(task: HTTPTask) {
        let origin = isPerHost ? task.request.origin : nil
        let now = timers.now
        let answer = board.withLock { $0.admit(origin, at: now) }
        answer.circuit.tell(answer.change)
        guard let watch = answer.watch else {
            task.note("circuit_breaker.refused", at: now, [("circuit_breaker.state", .text(answer.state.rawValue))])
            fail(task, .circuitOpen, reason: refusal(until: answer.end, at: now))
            return
        }
        if answer.state == .halfOpen { task.note("circuit_breaker.probe", at: now) }
        task.addObserver(watch)
        super.load(task: task)
    }

    /// Closes every circuit.
    public override func reset(with group: DispatchGroup) {
        for circuit in board.withLock({ $0.circuits }) { circuit.reset() }
        super.reset(with: group)
    }

    /// The state; with circuits per host, how many there are and which are not closed.
    public override var details: String {
        let now = timers.now
        guard isPerHost else {
            let circuit = board.withLock { $0.circuit(of: nil) }
            return circuit.map { "\($0.name), failed \($0.calls(at: now).failed) of \($0.calls(at: now).all)" } ?? ""
        }
        let circuits = board.withLock { $0.circuits }.filter { $0.host != nil }
        let broken = circuits.filter { $0.name != .closed }.map { "\($0.host ?? "") \($0.name)" }.sorted()
        return (["hosts \(circuits.count)"] + broken.prefix(Self.mostToTell)).joined(separator: ", ")
    }

    /// How many hosts a description names.
    private static var mostToTell: Int { 5 }

    /// How many circuits are closed, open and half open, how often one has opened, and which hosts are cut off.
    public override var readings: [LoaderReading] {
        let (circuits, openings) = board.withLock { ($0.circuits, $0.openings) }
        return CircuitReadings(circuits.filter { ($0.host != nil) == isPerHost }, openings: openings).all
    }

    private func refusal(until end: TimerInstant?, at now: TimerInstant) -> String {
        let when = end.map { "in \(now.duration(to: $0))" } ?? "as soon as a probe that is on its way has ended"
        return "The server has failed too often. The next probe may be made \(when)"
    }
}
