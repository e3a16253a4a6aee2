import LoaderChain

/// A limit in a simulation, where time is a number of seconds.
protocol SimulatedLimit {
    /// The name in tables and pictures.
    static var name: String { get }

    init(initial: Int)

    /// How many requests may be under way now.
    var current: Int { get }

    /// Notes that a request begins, and returns what its end is told with.
    mutating func begin() -> UInt32

    /// Notes the end of a request.
    mutating func end(_ request: EndedRequest, at now: Double)
}

/// A request that has ended in a simulation.
struct EndedRequest {
    /// What its beginning returned.
    let token: UInt32
    let seconds: Double
    let isRefused: Bool
    /// How many were under way when it ended, with this one.
    let inFlight: Int
}

/// The limit of this package.
struct AdaptiveSimulatedLimit: SimulatedLimit {
    static let name = "adaptive"
    private var state: AdaptiveLimitState

    init(initial: Int) { state = AdaptiveLimitState(AdaptiveLimit(initial: initial)) }

    var current: Int { state.current }

    func begin() -> UInt32 { state.period }

    mutating func end(_ request: EndedRequest, at now: Double) {
        state.end(
            request.isRefused ? .pushedBack : .served(after: request.seconds), of: request.token,
            inFlight: request.inFlight, at: now)
    }
}
