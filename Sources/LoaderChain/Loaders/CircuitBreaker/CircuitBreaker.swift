import Dispatch

/// Stops requests to a server that fails, and probes carefully whether it has recovered.
///
/// ```swift
/// let breaker = CircuitBreaker(onChange: { print($0.host ?? "", $0.to) })
/// let chain = Retry(strategy) --> breaker --> RateLimit(requests: 10, per: .seconds(1)) --> terminal
/// ```
///
/// **What it is for.** More requests do not help a server that is down, and a timeout for each request does not help
/// the user. When a large share of the recent requests has failed, the circuit *opens*, and requests fail at once with
/// ``HTTPError/Code/circuitOpen``. After a while it is *half-open*: a probe passes. If it succeeds, the circuit is
/// *closed* again and all requests pass; if not, the circuit stays open for twice as long.
///
/// **Where it belongs.** Below ``Retry``, so that it sees every attempt; its refusals are not transient failures, and are not
/// retried. Below the loader that fills in the host. Above a ``RateLimit``, whose tokens are for requests that are sent. Above
/// loaders that judge responses, so that an unusable response counts as a failure.
///
/// Each server, a host and its port, has a circuit of its own, unless you choose one for all; circuits of servers that are no
/// longer used are removed. The failure of another server, to which a redirect has led, counts for none. A cancelled probe is
/// replaced by another. A reset closes every circuit, and requests that are in flight then are not counted.
public final class CircuitBreaker: HTTPLoader, @unchecked Sendable {
    private let timers: any Timers
    private let isPerHost: Bool
    private let board: Locked<CircuitBoard>

    /// Makes a breaker.
    ///
    /// - Parameters:
    ///   - settings: the rules for opening a circuit and closing it again.
    ///   - perHost: whether each server has a circuit of its own, the default; otherwise there is one for all.
    ///   - timers: the clock. No timer is scheduled.
    ///   - random: the source of the jitter.
    ///   - verdict: the verdict on a result, which says whether the server is healthy; by default ``defaultVerdict(on:)``.
    ///   - onChange: called after a circuit has changed its state, on the thread that changed it, under no lock.
    public init(
        _ settings: Settings = Settings(), perHost: Bool = true, timers: any Timers = SystemTimers.shared,
        random: RandomSource = .system,
        verdict: @escaping @Sendable (HTTPResult) -> Verdict = CircuitBreaker.defaultVerdict,
        onChange: (@Sendable (Change) -> Void)? = nil
    ) {
        self.timers = timers
        isPerHost = perHost
        let policy = Circuit.Policy(
            settings: settings, verdict: verdict, onChange: onChange, timers: timers, random: random)
        board = Locked(CircuitBoard(policy, at: timers.now))
    }

    /// The state of a server's circuit; without circuits per host, that of the circuit for all.
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

    public override func load(task: HTTPTask) {
        let origin = isPerHost ? task.request.origin : nil
        let now = timers.now
        let answer = board.withLock { $0.admit(origin, at: now) }
        answer.circuit.report(answer.change)
        guard let watch = answer.watch else {
            fail(task, .circuitOpen, reason: refusal(until: answer.end, at: now))
            return
        }
        task.addObserver(watch)
        super.load(task: task)
    }

    /// Closes every circuit.
    public override func reset(with group: DispatchGroup) {
        for circuit in circuits { circuit.reset() }
        super.reset(with: group)
    }

    /// The state; with circuits per host, how many there are and which are not closed.
    public override var details: String {
        let now = timers.now
        guard isPerHost else {
            let circuit = board.withLock { $0.circuit(of: nil) }
            return circuit.map { "\($0.name), failed \($0.calls(at: now).failed) of \($0.calls(at: now).all)" } ?? ""
        }
        let circuits = circuits
        let broken = circuits.filter { $0.name != .closed }.map { "\($0.host ?? "") \($0.name)" }.sorted()
        return (["hosts \(circuits.count)"] + broken.prefix(Self.mostHostsInDetails)).joined(separator: ", ")
    }

    private static var mostHostsInDetails: Int { 5 }
    private static var mostHostsInReadings: Int { 50 }

    /// How many circuits are closed, open and half open, how often one has opened, and which hosts are cut off.
    public override var readings: [LoaderReading] {
        let states = circuits.map { (host: $0.host, name: $0.name) }
        let counts = [State.closed, .open, .halfOpen].map { state in
            LoaderReading.level(
                "circuit_breaker.circuits", states.count { $0.name == state }, unit: "{circuit}",
                "How many circuits are in a state", ["state": state.rawValue])
        }
        let opened = LoaderReading.counter(
            "circuit_breaker.opened", board.withLock { $0.openings }, unit: "{change}",
            "How often a circuit has opened")
        let broken = states.filter { $0.host != nil && $0.name != .closed }.sorted { $0.host ?? "" < $1.host ?? "" }
        return counts + [opened]
            + broken.prefix(Self.mostHostsInReadings).map { host, state in
                LoaderReading.level(
                    "circuit_breaker.broken", 1, unit: "{circuit}", "The hosts whose circuit is open or half open",
                    ["host": host ?? "", "state": state.rawValue])
            }
    }

    private var circuits: [Circuit] { board.withLock { $0.circuits(perHost: isPerHost) } }

    private func refusal(until end: TimerInstant?, at now: TimerInstant) -> String {
        let time = now.duration(to: end ?? now)
        return "The server has failed too often. The next probe may be made in \(time)"
    }
}

extension CircuitBreaker {
    /// The rules for opening a circuit and closing it again.
    ///
    /// Out-of-range values are clamped, and values that are not a number become the default, so that settings can come from a
    /// server. The longest time is 136 years.
    public struct Settings: Hashable, Sendable {
        /// The share of the calls in the window that must fail for the circuit to open, from 0 to 1.
        public var failureRatio: Double
        /// The number of calls that the window must have before the circuit can open, at least 1.
        public var minimumNumberOfCalls: Int
        /// The time for which a call counts, not negative.
        public var window: Duration
        /// How long the circuit stays open at first, not negative; twice as long after each failed probe.
        public var openDuration: Duration
        /// The longest time that the circuit stays open, without jitter; at least ``openDuration``.
        public var maximumOpenDuration: Duration
        /// How much longer it may stay open at random, as a share of the duration, so that clients do not probe
        /// together; from 0 to 100.
        public var jitter: Double
        /// The number of probes that may run at once, and must succeed for the circuit to close, at least 1.
        ///
        /// If they take longer than the circuit was open, another one passes.
        public var probes: Int

        /// Makes settings; the defaults are for an app that talks to one service.
        ///
        /// With the defaults, a circuit opens when half of at least 20 calls in 10 seconds have failed. It stays open
        /// for 5 to 6 seconds, twice as long after each probe that fails, and never longer than 72 seconds.
        public init(
            failureRatio: Double = 0.5, minimumNumberOfCalls: Int = 20, window: Duration = .seconds(10),
            openDuration: Duration = .seconds(5), maximumOpenDuration: Duration = .seconds(60), jitter: Double = 0.2,
            probes: Int = 1
        ) {
            self.failureRatio = failureRatio
            self.minimumNumberOfCalls = minimumNumberOfCalls
            self.window = window
            self.openDuration = openDuration
            self.maximumOpenDuration = maximumOpenDuration
            self.jitter = jitter
            self.probes = probes
        }

        var inRange: Settings {
            let open = Pacing.clamped(openDuration)
            return Settings(
                failureRatio: failureRatio.isNaN ? Settings().failureRatio : min(max(0, failureRatio), 1),
                minimumNumberOfCalls: max(1, minimumNumberOfCalls), window: Pacing.clamped(window),
                openDuration: open, maximumOpenDuration: max(open, Pacing.clamped(maximumOpenDuration)),
                jitter: jitter.isNaN ? Settings().jitter : min(max(0, jitter), 100), probes: max(1, probes))
        }
    }

    /// Whether requests pass.
    public enum State: String, Sendable {
        /// Requests pass, and their results are counted.
        case closed
        /// Requests are refused, until its time is over: the next one is a probe then.
        case open
        /// A few requests pass as probes, whose results decide.
        case halfOpen
    }

    /// A change of a circuit's state.
    public struct Change: Hashable, Sendable {
        /// The host in lower case, with its port unless that is the scheme's own; nil for the circuit of all servers.
        public let host: String?
        /// The state before.
        public let from: State
        /// The state now.
        public let to: State
    }

    /// The verdict on the server's health that a result allows.
    public enum Verdict: Sendable {
        /// The server is healthy, even if it refused the request.
        case success
        /// The server is not healthy.
        case failure
        /// Nothing: the request did not reach the server, or was cancelled before the response.
        case nothing
    }

    /// Returns the default verdict on a result.
    ///
    /// | Result | Verdict |
    /// |---|---|
    /// | a status from 500 on, or 429 Too Many Requests | failure |
    /// | any other status | success |
    /// | ``HTTPError/Code/cancelled``, ``HTTPError/Code/resetInProgress``, ``HTTPError/Code/deadlineExceeded``, whatever the response | nothing |
    /// | ``HTTPError/Code/invalidRequest``, and the codes of loaders that hold a request back, whatever the response | nothing |
    /// | any other error about a response with a status from 400 on | as the status |
    /// | ``HTTPError/Code/timedOut``, ``HTTPError/Code/cannotConnect``, ``HTTPError/Code/connectionLost`` | failure |
    /// | ``HTTPError/Code/insecureConnection``, ``HTTPError/Code/unknown`` | failure |
    /// | ``HTTPError/Code/invalidResponse``, ``HTTPError/Code/cannotDecodeResponse``, as of a validation or a decoder | failure |
    /// | any other error | nothing |
    public static func defaultVerdict(on result: HTTPResult) -> Verdict {
        switch result {
        case .success(let response): isFailure(response.status) ? .failure : .success
        case .failure(let error): verdict(on: error)
        }
    }

    private static func verdict(on error: HTTPError) -> Verdict {
        let verdict: Verdict
        switch ResultMeaning(error.code) {
        case .stopped, .outOfTime, .heldBack, .unsendable: return .nothing
        case .unreachable, .lost, .insecure, .useless: verdict = .failure
        case .unknown: verdict = error.code == .unknown ? .failure : .nothing
        case .answered, .unauthorized, .notTaken: verdict = .nothing
        }
        guard let status = error.response?.status else { return verdict }
        if isFailure(status) { return .failure }
        // A server that refuses a request is healthy; a server that accepts it and sends garbage is not.
        return status.isClientError ? .success : verdict
    }

    private static func isFailure(_ status: HTTPStatus) -> Bool {
        status.rawValue >= 500 || status == .tooManyRequests
    }
}
