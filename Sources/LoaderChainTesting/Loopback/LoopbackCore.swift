import Dispatch
import LoaderChain

/// The state that a server shares with its threads.
///
/// The threads retain the core, and the core does not know the server. So a server without references is deinitialised, and
/// stops its threads, however many of them wait.
final class LoopbackCore: Sendable {
    let limits: LoopbackLimits
    /// Raised once, by ``stop()``, to end every wait of every thread.
    let stopping: LoopbackSignal
    /// Raised by each connection that has ended, so that the listener joins its thread.
    let ending: LoopbackSignal

    private let ledger = Awaited(LoopbackLedger())
    private let routes = Locked(LoopbackRoutes())
    private let threads = Locked(Threads())
    /// Left by the thread that has joined the listener; other threads that stop the server wait for it.
    private let joined = DispatchGroup()

    private struct Threads {
        var listener: SystemThread?
        /// The threads that run a connection; a route that calls ``LoopbackCore/stop()`` runs on one of them.
        var running: Set<UInt> = []
        /// The connections whose threads are ending.
        var ended: [Int] = []
    }

    init(limits: LoopbackLimits) throws(SystemError) {
        self.limits = limits
        stopping = try LoopbackSignal()
        ending = try LoopbackSignal()
    }

    func start(_ listener: LoopbackListener) throws(SystemError) {
        let thread = try SystemThread { listener.run() }
        joined.enter()
        threads.withLock { $0.listener = thread }
    }

    /// Ends every connection and every thread.
    ///
    /// A route may call this; it does not wait for its own thread.
    func stop() {
        tellToStop()
        guard !runsOnOwnThread else { return }
        if let listener = threads.withLock({ $0.listener.take() }) {
            listener.join()
            joined.leave()
        } else {
            joined.wait()
        }
    }

    /// Stops a server that is being deinitialised, possibly by one of its own threads, which then detaches the listener.
    func abandon() {
        guard runsOnOwnThread else { return stop() }
        tellToStop()
        if let listener = threads.withLock({ $0.listener.take() }) {
            listener.detach()
            joined.leave()
        }
    }

    private func tellToStop() {
        guard ledger.change({ $0.stop() }) else { return }
        stopping.raise()
        // The routes may retain the server, which retains this. The cycle is broken here, outside the lock.
        let dropped = routes.withLock { replace(&$0, with: LoopbackRoutes()) }
        withExtendedLifetime(dropped) {}
    }

    private var runsOnOwnThread: Bool {
        let current = SystemThread.currentNumber
        return threads.withLock { $0.running.contains(current) }
    }
}

// MARK: - Threads

extension LoopbackCore {
    /// The number of connections whose thread has not ended.
    var runningThreads: Int { threads.withLock { $0.running.count } }

    /// Serves a connection; the body of its thread.
    func run(_ connection: LoopbackConnection) {
        let current = SystemThread.currentNumber
        threads.withLock { _ = $0.running.insert(current) }
        connection.run()
        close(connection)
        threads.withLock { threads in
            threads.running.remove(current)
            threads.ended.append(connection.number)
        }
        ending.raise()
    }

    /// Closes a connection's socket, and counts it as closed only after that.
    func close(_ connection: LoopbackConnection) {
        connection.socket.close()
        ledger.change { $0.closeConnection() }
    }

    /// The connections whose threads can be joined.
    func takeEnded() -> [Int] {
        ending.lower()
        return threads.withLock { replace(&$0.ended, with: []) }
    }
}

// MARK: - Routes and replies

extension LoopbackCore {
    func set(_ answer: @escaping LoopbackRoutes.Answer, path: String, method: HTTPMethod?) {
        let replaced = routes.withLock { $0.set(answer, path: path, method: method) }
        withExtendedLifetime(replaced) {}
    }

    func set(fallback answer: @escaping LoopbackRoutes.Answer) {
        let replaced = routes.withLock { $0.set(fallback: answer) }
        withExtendedLifetime(replaced) {}
    }

    /// Asks the routes for a reply, without a lock; nil if the server has been stopped meanwhile.
    func reply(to request: LoopbackRequest) -> LoopbackReply? {
        let answer = routes.withLock { $0.answer(to: request) }
        let reply = answer?(request) ?? .text("Nothing is routed at \(request.path).", status: .notFound)
        return isStopped ? nil : reply
    }
}

// MARK: - The ledger

extension LoopbackCore {
    var requests: [LoopbackRequest] { ledger.read(\.requests) }
    var held: [LoopbackLedger.Held] { ledger.read(\.held) }
    var connectionCount: Int { ledger.read(\.connectionCount) }
    var openConnections: Int { ledger.read(\.openConnections) }
    var isStopped: Bool { ledger.read(\.isStopped) }

    func record(_ request: LoopbackRequest) {
        if limits.keepsRequests { ledger.change { $0.requests.append(request) } }
    }

    func openConnection() -> Int { ledger.change { $0.openConnection() } }

    /// Lists a reply as held until its signal is raised.
    func hold(_ request: LoopbackRequest, signal: LoopbackSignal) -> Int {
        ledger.change { $0.hold(request, signal: signal) }
    }

    func release(where isWanted: (LoopbackLedger.Held) -> Bool) {
        for reply in ledger.change({ $0.takeHeld(where: isWanted) }) { reply.signal.raise() }
    }

    /// Waits until a milestone is reached, the server is stopped, or the task is cancelled.
    func wait(for milestone: LoopbackLedger.Milestone) async throws {
        guard let outcome = await ledger.wait(for: { $0.outcome(of: milestone) }) else { throw CancellationError() }
        try outcome.get()
    }
}

/// The responses to each path and method.
struct LoopbackRoutes {
    typealias Answer = @Sendable (LoopbackRequest) -> LoopbackReply

    private struct Key: Hashable {
        let path: String
        let method: HTTPMethod?
    }

    private var answers: [Key: Answer] = [:]
    private var fallback: Answer?

    /// Sets a response, and returns the one it replaces, so that it is released after unlocking.
    mutating func set(_ answer: @escaping Answer, path: String, method: HTTPMethod?) -> Answer? {
        answers.updateValue(answer, forKey: Key(path: path, method: method))
    }

    /// Sets the response to all other requests, and returns the one it replaces.
    mutating func set(fallback answer: @escaping Answer) -> Answer? {
        defer { fallback = answer }
        return fallback
    }

    /// The response for path and method, else the one for the path, else the fallback.
    func answer(to request: LoopbackRequest) -> Answer? {
        let path = request.path
        return answers[Key(path: path, method: request.method)] ?? answers[Key(path: path, method: nil)] ?? fallback
    }
}

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
