import LoaderChain

/// What a server has received and what callers wait for.
struct LoopbackLedger {
    /// What a test can wait for.
    enum Milestone: Sendable {
        case requests(Int)
        case held(Int)
        case connections(Int)
        case openConnections(atMost: Int)

        /// Whether the end of the server helps to reach the milestone, instead of making it impossible.
        var outlivesServer: Bool {
            if case .openConnections = self { true } else { false }
        }
    }

    /// A reply that waits for the test.
    struct Held {
        let number: Int
        let request: LoopbackRequest
        let signal: LoopbackSignal
    }

    var requests: [LoopbackRequest] = []
    private(set) var held: [Held] = []
    private(set) var connectionCount = 0
    private(set) var openConnections = 0
    private(set) var isStopped = false
    private var lastHeld = 0

    /// Counts a connection, and gives it a number.
    mutating func openConnection() -> Int {
        connectionCount += 1
        openConnections += 1
        return connectionCount
    }

    mutating func closeConnection() { openConnections -= 1 }

    /// Lists a reply as held, unless the server has been stopped, since nothing would release it then.
    mutating func hold(_ request: LoopbackRequest, signal: LoopbackSignal) -> Int {
        lastHeld += 1
        if !isStopped { held.append(Held(number: lastHeld, request: request, signal: signal)) }
        return lastHeld
    }

    /// Removes held replies from the list, for the caller to release.
    mutating func takeHeld(where isWanted: (Held) -> Bool) -> [Held] {
        let wanted = held.filter(isWanted)
        held.removeAll(where: isWanted)
        return wanted
    }

    /// Stops the server, and returns whether it was running.
    mutating func stop() -> Bool {
        held = []
        return !replace(&isStopped, with: true)
    }

    /// Whether a milestone is reached, or an error if it no longer can be; nil while it may still be.
    func outcome(of milestone: Milestone) -> Result<Void, LoopbackServer.Stopped>? {
        let isReached =
            switch milestone {
            case .requests(let count): requests.count >= count
            case .held(let count): held.count >= count
            case .connections(let count): connectionCount >= count
            case .openConnections(let most): openConnections <= max(0, most)
            }
        if isReached { return .success(()) }
        return isStopped && !milestone.outlivesServer ? .failure(LoopbackServer.Stopped()) : nil
    }
}
