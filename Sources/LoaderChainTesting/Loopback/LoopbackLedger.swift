/// What a server has received and what callers wait for: the state behind its one lock.
///
/// A change returns the waits that it has fulfilled. The caller resumes them after unlocking.
struct LoopbackLedger {
    /// What a test can wait for.
    enum Milestone {
        case requests(Int)
        case held(Int)
        case connections(Int)
        case openConnections(atMost: Int)

        /// Whether the end of the server helps to reach the milestone, instead of making it impossible.
        var outlivesServer: Bool {
            if case .openConnections = self { true } else { false }
        }
    }

    typealias Continuation = CheckedContinuation<Void, any Error>

    private enum Wait {
        case pending(Milestone, Continuation)
        /// The task was cancelled before its wait began.
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

    /// Counts a connection, and gives it a number.
    mutating func openConnection() -> (number: Int, fulfilled: [Continuation]) {
        connectionCount += 1
        openConnections += 1
        return (connectionCount, takeFulfilled())
    }

    mutating func closeConnection() -> [Continuation] {
        openConnections -= 1
        return takeFulfilled()
    }

    /// Lists a reply as held, unless the server has been stopped, since nothing would release it then.
    mutating func hold(_ reply: Held) -> [Continuation] {
        guard !isStopped else { return [] }
        held.append(reply)
        return takeFulfilled()
    }

    /// Removes held replies from the list, for the caller to release.
    mutating func takeHeld(where isWanted: (Held) -> Bool) -> [Held] {
        let wanted = held.filter(isWanted)
        held.removeAll(where: isWanted)
        return wanted
    }

    /// Stops the server, and returns the waits that can no longer be fulfilled; nil if it was stopped before.
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
    /// Begins a wait; returns its result if it has one at once.
    mutating func begin(_ number: Int, _ milestone: Milestone, _ continuation: Continuation) -> Result<Void, any Error>?
    {
        if case .cancelled = waits[number] { return .failure(CancellationError()) }
        if isReached(milestone) { return .success(()) }
        if isStopped && !milestone.outlivesServer { return .failure(LoopbackServer.Stopped()) }
        waits[number] = .pending(milestone, continuation)
        return nil
    }

    /// Cancels a wait, and returns its continuation if it has begun.
    mutating func cancel(_ number: Int) -> Continuation? {
        defer { waits[number] = .cancelled }
        guard case .pending(_, let continuation) = waits[number] else { return nil }
        return continuation
    }

    /// Removes the entry of a wait that has ended.
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
