import LoaderChain

/// A limit in a simulation, where time is a number of seconds.
protocol SimulatedLimit {
    /// The name in tables and pictures.
    static var name: String { get }

    init(initial: Int)

    /// How many requests may be under way now.
    var current: Int { get }

    /// Notes that a request begins, and returns the number that its end is reported with.
    mutating func begin() -> UInt32

    mutating func end(_ request: EndedRequest, at now: Double)
}

/// A request that has ended in a simulation.
struct EndedRequest {
    enum End: Hashable {
        case served, refused
        /// The caller has left.
        case givenUp
    }

    /// What its beginning returned.
    let token: UInt32
    let seconds: Double
    let end: End
    /// How many were under way when it ended, with this one.
    let inFlight: Int

    /// Whether the server has not answered, as other algorithms see it.
    var isRefused: Bool { end != .served }
}

/// The limit of this package.
struct AdaptiveSimulatedLimit: SimulatedLimit {
    static let name = "adaptive"
    private var state: AdaptiveLimitState

    init(initial: Int) { state = AdaptiveLimitState(AdaptiveLimit(initial: initial)) }

    var current: Int { state.current }

    func begin() -> UInt32 { state.period }

    mutating func end(_ request: EndedRequest, at now: Double) {
        let end: AdaptiveLimitState.End =
            switch request.end {
            case .served: .served(after: request.seconds)
            case .refused: .pushedBack
            case .givenUp: .givenUp(after: request.seconds)
            }
        state.end(end, of: request.token, inFlight: request.inFlight, at: now)
    }
}
