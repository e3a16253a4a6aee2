import Dispatch
import LoaderChain

/// The state that a server shares with its threads.
///
/// The threads retain the core, and the core does not know the server. So a server without references is deinitialised, and
/// stops its threads, however many of them wait.
package final class LoopbackCore: Sendable {
    let limits: LoopbackLimits
    /// Raised once, by ``stop()``, to end every wait of every thread.
    let stopping: LoopbackSignal
    /// Raised by each connection that has ended, so that the listener accepts another one.
    let ending: LoopbackSignal
    let ledger = Awaited(LoopbackLedger())

    private let service: @Sendable (LoopbackConnection) -> Void
    private let routes = Locked(LoopbackRoutes())
    /// Has a place for each thread that has not ended.
    private let threads = DispatchGroup()
    /// The threads that serve a connection; a route that calls ``stop()`` runs on one of them.
    private let serving = Locked<Set<UInt>>([])

    init(
        limits: LoopbackLimits, service: @escaping @Sendable (LoopbackConnection) -> Void
    ) throws(SystemError) {
        self.limits = limits
        self.service = service
        stopping = try LoopbackSignal()
        ending = try LoopbackSignal()
    }

    // MARK: Threads

    /// Runs something on a thread of its own, for whose end ``stop()`` waits.
    func run(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        threads.enter()
        do throws(SystemError) {
            try SystemThread { [threads] in
                body()
                threads.leave()
            }.detach()
        } catch {
            threads.leave()
            throw error
        }
    }

    /// Serves a connection on a thread of its own; without one, it closes the connection.
    func serve(_ socket: LoopbackSocket) {
        let connection = LoopbackConnection(number: ledger.change { $0.openConnection() }, socket: socket, core: self)
        do throws(SystemError) {
            try run {
                let current = SystemThread.currentNumber
                self.serving.withLock { _ = $0.insert(current) }
                self.service(connection)
                self.close(connection)
                self.serving.withLock { _ = $0.remove(current) }
                self.ending.raise()
            }
        } catch { close(connection) }
    }

    /// Closes a connection's socket, and counts it as closed only after that.
    private func close(_ connection: LoopbackConnection) {
        connection.socket.close()
        ledger.change { $0.closeConnection() }
    }

    var servingThreads: Int { serving.withLock(\.count) }

    /// Ends every connection and every thread; `waits` for the threads, but never for its own, as when a route calls it.
    func stop(waits: Bool = true) {
        if ledger.change({ $0.stop() }) {
            stopping.raise()
            // The routes may retain the server, which retains this. The cycle is broken here, outside the lock.
            let dropped = routes.withLock { replace(&$0, with: LoopbackRoutes()) }
            withExtendedLifetime(dropped) {}
        }
        let current = SystemThread.currentNumber
        if waits, !serving.withLock({ $0.contains(current) }) { threads.wait() }
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
        return ledger.read(\.isStopped) ? nil : reply
    }
}

// MARK: - The ledger

extension LoopbackCore {
    func record(_ request: LoopbackRequest) {
        if limits.keepsRequests { ledger.change { $0.requests.append(request) } }
    }

    func release(where isWanted: (LoopbackLedger.Held) -> Bool) {
        for reply in ledger.change({ $0.takeHeld(where: isWanted) }) { reply.signal.raise() }
    }

    /// Waits until the ledger meets a condition.
    ///
    /// Throws if the task is cancelled, or the server is stopped, unless the end of the server helps to meet the condition.
    func wait(outlivingServer: Bool = false, until isMet: @escaping (LoopbackLedger) -> Bool) async throws {
        let end = await ledger.wait { ledger -> Result<Void, LoopbackServer.Stopped>? in
            if isMet(ledger) { return .success(()) }
            return ledger.isStopped && !outlivingServer ? .failure(LoopbackServer.Stopped()) : nil
        }
        guard let end else { throw CancellationError() }
        try end.get()
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

    /// Sets a response, and returns the response that it replaces, so that it is released after unlocking.
    mutating func set(_ answer: @escaping Answer, path: String, method: HTTPMethod?) -> Answer? {
        answers.updateValue(answer, forKey: Key(path: path, method: method))
    }

    mutating func set(fallback answer: @escaping Answer) -> Answer? {
        defer { fallback = answer }
        return fallback
    }

    func answer(to request: LoopbackRequest) -> Answer? {
        let path = request.path
        return answers[Key(path: path, method: request.method)] ?? answers[Key(path: path, method: nil)] ?? fallback
    }
}

/// What a server has received and what callers wait for.
struct LoopbackLedger {
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
}
