/// What a server has seen and what it waits for: the state behind its one lock.
///
/// A change returns the waits that it has fulfilled. The caller resumes them after it has let go of the lock.
struct LoopbackLedger {
    /// What a test can wait for.
    enum Milestone {
        case requests(Int)
        case held(Int)
        case connections(Int)
        case openConnections(atMost: Int)

        /// Whether the end of the server brings the milestone nearer, instead of putting it out of reach.
        var outlivesServer: Bool {
            if case .openConnections = self { true } else { false }
        }
    }

    typealias Continuation = CheckedContinuation<Void, any Error>

    private enum Wait {
        case pending(Milestone, Continuation)
        /// The task was cancelled before its continuation arrived here.
        case cancelled
    }

    /// A reply that waits for the test.
    struct Held {
        let number: Int
        let request: LoopbackRequest
        let signal: LoopbackSignal
    }

    private(set) var requests: [LoopbackRequest] = []
    private(set) var held: [Held] = []
    private(set) var connectionCount = 0
    private(set) var openConnections = 0
    private(set) var isStopped = false
    private var waits: [Int: Wait] = [:]
    private var lastNumber = 0

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func record(_ request: LoopbackRequest) -> [Continuation] {
        requests.append(request)
        return takeFulfilled()
    }

    /// Counts a connection, and numbers it.
    mutating func openConnection() -> (number: Int, fulfilled: [Continuation]) {
        connectionCount += 1
        openConnections += 1
        return (connectionCount, takeFulfilled())
    }

    mutating func closeConnection() -> [Continuation] {
        openConnections -= 1
        return takeFulfilled()
    }

    /// Lists a reply as held; not once the server has been stopped, for nobody would let it go.
    mutating func hold(_ reply: Held) -> [Continuation] {
        guard !isStopped else { return [] }
        held.append(reply)
        return takeFulfilled()
    }

    /// Takes held replies off the list, for the caller to let go.
    mutating func takeHeld(where isWanted: (Held) -> Bool) -> [Held] {
        let wanted = held.filter(isWanted)
        held.removeAll(where: isWanted)
        return wanted
    }

    /// Ends the life of the server, and returns the waits that have become hopeless; `nil` if it had ended before.
    mutating func stop() -> [Continuation]? {
        guard !isStopped else { return nil }
        isStopped = true
        held = []
        var hopeless: [Continuation] = []
        for (number, wait) in waits {
            guard case .pending(let milestone, let continuation) = wait, !milestone.outlivesServer else { continue }
            waits[number] = nil
            hopeless.append(continuation)
        }
        return hopeless
    }
}

extension LoopbackLedger {
    /// Lists a wait, or returns how it ends at once.
    mutating func begin(_ number: Int, _ milestone: Milestone, _ continuation: Continuation) -> Result<Void, any Error>?
    {
        if case .cancelled = waits[number] { return .failure(CancellationError()) }
        if isReached(milestone) { return .success(()) }
        if isStopped && !milestone.outlivesServer { return .failure(LoopbackServer.Stopped()) }
        waits[number] = .pending(milestone, continuation)
        return nil
    }

    /// Cancels a wait, and returns its continuation if it is here.
    mutating func cancel(_ number: Int) -> Continuation? {
        defer { waits[number] = .cancelled }
        guard case .pending(_, let continuation) = waits[number] else { return nil }
        return continuation
    }

    /// Forgets what is left of a wait that has ended.
    mutating func end(_ number: Int) {
        waits[number] = nil
    }

    private mutating func takeFulfilled() -> [Continuation] {
        var fulfilled: [Continuation] = []
        for (number, wait) in waits {
            guard case .pending(let milestone, let continuation) = wait, isReached(milestone) else { continue }
            waits[number] = nil
            fulfilled.append(continuation)
        }
        return fulfilled
    }

    private func isReached(_ milestone: Milestone) -> Bool {
        switch milestone {
        case .requests(let count): requests.count >= count
        case .held(let count): held.count >= count
        case .connections(let count): connectionCount >= count
        case .openConnections(let most): openConnections <= max(0, most)
        }
    }
}
