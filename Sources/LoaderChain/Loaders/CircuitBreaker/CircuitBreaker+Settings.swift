extension CircuitBreaker {
    /// When a circuit opens, and how it closes again.
    public struct Settings: Hashable, Sendable {
        /// Which part of the calls in the window must fail for the circuit to open, from 0 to 1.
        public var failureRatio: Double
        /// How many calls there must be in the window before the part that fails means anything.
        public var minimumNumberOfCalls: Int
        /// For how long a call counts.
        public var window: Duration
        /// How long the circuit stays open at first; twice as long after each failed probe.
        public var openDuration: Duration
        /// What that never grows beyond.
        public var maximumOpenDuration: Duration
        /// How much longer it may stay open by chance, as a part of the duration, so that clients do not probe together.
        public var jitter: Double
        /// How many probes may run at once, and must succeed for the circuit to close.
        public var probes: Int

        /// Makes settings; the defaults suit an app that talks to one service.
        ///
        /// With them a circuit opens when half of at least 20 calls in 10 seconds have failed. It stays open for 5 to 6
        /// seconds, for twice as long after each probe that fails, and never for longer than a minute and a fifth.
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
    }

    /// Whether requests pass.
    public enum State: String, Sendable {
        /// They pass, and their results are counted.
        case closed
        /// They are refused.
        case open
        /// A few pass as probes, whose results decide.
        case halfOpen
    }

    /// A circuit that went from one state to another.
    public struct Change: Hashable, Sendable {
        /// Whose circuit it is, in lowercase; nil where there is one for all hosts.
        public let host: String?
        /// The state before.
        public let from: State
        /// The state now.
        public let to: State
    }

    /// What a result says about the health of the server.
    public enum Verdict: Sendable {
        /// It is well, whatever it thinks of the request.
        case success
        /// It is not.
        case failure
        /// Nothing: the server was not asked, or could not answer in time because somebody else lost interest.
        case nothing
    }

    /// The usual verdict on a result.
    ///
    /// | Result | Verdict |
    /// |---|---|
    /// | a status from 500 on, or 429 Too Many Requests, also beneath an error | failure |
    /// | any other status | success |
    /// | a response below 400 that an error calls useless, as a validation or a decoder does | failure |
    /// | ``HTTPError/Code/timedOut``, ``HTTPError/Code/cannotConnect``, ``HTTPError/Code/connectionLost`` | failure |
    /// | ``HTTPError/Code/insecureConnection``, ``HTTPError/Code/unknown`` | failure |
    /// | ``HTTPError/Code/invalidResponse``, ``HTTPError/Code/cannotDecodeResponse`` without a response | failure |
    /// | ``HTTPError/Code/cancelled``, ``HTTPError/Code/resetInProgress``, ``HTTPError/Code/invalidRequest`` | nothing |
    /// | ``HTTPError/Code/abandoned``, and the refusals of other loaders | nothing |
    public static func usualVerdict(on result: HTTPResult) -> Verdict {
        if let code = result.error?.code, !saysSomething.contains(code) { return .nothing }
        guard let status = result.response?.status else { return .failure }
        if status.rawValue >= 500 || status == .tooManyRequests { return .failure }
        if result.error == nil { return .success }
        // The server is well that refuses a request, but not the one that grants it and sends garbage.
        return status.isClientError ? .success : .failure
    }

    private static let saysSomething: Set<HTTPError.Code> = [
        .timedOut, .cannotConnect, .connectionLost, .insecureConnection, .invalidResponse, .cannotDecodeResponse,
        .unknown,
    ]
}

extension HTTPError.Code {
    /// The server has failed too often, and a ``CircuitBreaker`` leaves it alone for a while.
    public static let circuitOpen = HTTPError.Code("circuitOpen")
}
