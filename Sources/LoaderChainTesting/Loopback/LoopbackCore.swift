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
