extension CircuitBreaker {
    /// When a circuit opens, and how it closes again.
    ///
    /// A value out of its range counts as the nearest one in it, and one that is not a number as the default, so that
    /// settings can come from a server. The longest time is 136 years.
    public struct Settings: Hashable, Sendable {
        /// The share of the calls in the window that must fail for the circuit to open, from 0 to 1.
        public var failureRatio: Double
        /// How many calls there must be in the window before the circuit can open, at least 1.
        public var minimumNumberOfCalls: Int
        /// For how long a call counts, not negative.
        public var window: Duration
        /// How long the circuit stays open at first, not negative; twice as long after each failed probe.
        public var openDuration: Duration
        /// The longest time that the circuit stays open, without jitter; at least ``openDuration``.
        public var maximumOpenDuration: Duration
        /// How much longer it may stay open at random, as a share of the duration, so that clients do not probe
        /// together; from 0 to 100.
        public var jitter: Double
        /// How many probes may run at once, and must succeed for the circuit to close, at least 1.
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

        /// The settings with each value in its range.
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
        /// Requests are refused.
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

    /// What a result says about the server's health.
    public enum Verdict: Sendable {
        /// The server is healthy, even if it refused the request.
        case success
        /// The server is not healthy.
        case failure
        /// Nothing: the request did not reach the server, or was cancelled before the response.
        case nothing
    }

    /// The usual verdict on a result.
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
    public static func usualVerdict(on result: HTTPResult) -> Verdict {
        switch result {
        case .success(let response): isFailure(response.status) ? .failure : .success
        case .failure(let error): verdict(on: error)
        }
    }

    private static func verdict(on error: HTTPError) -> Verdict {
        let meaning = ResultMeaning(error.code)
        switch meaning {
        case .stopped, .outOfTime, .heldBack, .unsendable: return .nothing
        default: break
        }
        if let status = error.response?.status {
            if isFailure(status) { return .failure }
            // A server that refuses a request is healthy; one that accepts it and sends garbage is not.
            if status.isClientError { return .success }
        }
        switch meaning {
        case .unreachable, .lost, .insecure, .useless: return .failure
        case .unknown where error.code == .unknown: return .failure
        default: return .nothing
        }
    }

    private static func isFailure(_ status: HTTPStatus) -> Bool {
        status.rawValue >= 500 || status == .tooManyRequests
    }
}
