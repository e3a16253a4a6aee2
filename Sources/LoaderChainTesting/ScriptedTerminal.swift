import Dispatch
import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The end of a chain, answered by a test.
///
/// It keeps every task until the test answers it, so that a test decides what arrives when, on which thread, or not at
/// all:
///
/// ```swift
/// let terminal = ScriptedTerminal()
/// let chain = MyLoader() --> terminal
/// let task = chain.load(request: request) { result in print(result) }
///
/// let held = await terminal.next()
/// #expect(held.request.headers["X-Mine"] == "yes")
/// terminal.answer(held, .notFound)
/// ```
///
/// Given a script, it answers at once, inside `load`:
///
/// ```swift
/// let chain = MyLoader() --> ScriptedTerminal { _ in .success(.ok, body: "hello") }
/// ```
///
/// As every terminal, it refuses requests that cannot be sent, and completes a cancelled task, unless it is told to wait
/// for the test to do so.
public final class ScriptedTerminal: HTTPLoader, @unchecked Sendable {
    /// What an answer consists of.
    public enum Answer: Sendable {
        /// A response of this status.
        case success(HTTPStatus = .ok, headers: HTTPHeaders = [:], body: String = "")
        /// An error of this kind.
        case failure(HTTPError.Code)
    }

    /// What becomes of a held task that is cancelled.
    public enum CancelReaction: Sendable {
        /// It completes at once.
        case completes
        /// It stays until the test answers it, as with a transport that takes a while to stop.
        case waits
    }

    private let cancelReaction: CancelReaction
    private let script: (@Sendable (HTTPRequest) -> Answer)?
    private let state = Guarded(State())

    /// Makes a terminal that keeps its tasks until the test answers them.
    public init(onCancel: CancelReaction = .completes) {
        cancelReaction = onCancel
        script = nil
    }

    /// Makes a terminal that answers each request at once with what `script` says.
    public init(_ script: @escaping @Sendable (HTTPRequest) -> Answer) {
        cancelReaction = .completes
        self.script = script
    }

    // MARK: What arrived

    /// The requests that have arrived so far, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// The tasks that wait for an answer, in the order of their arrival.
    public var held: [HTTPTask] { state.withLock { $0.held } }

    /// Waits for the next task that no earlier call has been given.
    public func next() async -> HTTPTask {
        while true {
            if let task = await next(orWakeAfter: wakes) { return task }
        }
    }

    /// How often those who wait for a task have been woken without one.
    var wakes: Int { state.withLock { $0.wakes } }

    /// Waits for the next task, but no longer than until a wake that came after `wakes` of them.
    func next(orWakeAfter wakes: Int) async -> HTTPTask? {
        await withUnsafeContinuation { continuation in
            switch state.withLock({ $0.arrival(orWakeAfter: wakes, for: continuation) }) {
            case .task(let task): continuation.resume(returning: task)
            case .wake: continuation.resume(returning: nil)
            case .wait: break
            }
        }
    }

    /// Wakes everybody who waits for a task.
    func wake() {
        for continuation in state.withLock({ $0.wake() }) { continuation.resume(returning: nil) }
    }

    // MARK: Answering

    /// Completes a held task with a response.
    ///
    /// - Returns: whether this was the task's first result.
    @discardableResult
    public func answer(
        _ task: HTTPTask, _ status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: String = ""
    ) -> Bool {
        complete(task, with: .success(status, headers: headers, body: body))
    }

    /// Completes a held task with an error.
    ///
    /// - Returns: whether this was the task's first result.
    @discardableResult
    public func refuse(_ task: HTTPTask, _ code: HTTPError.Code) -> Bool {
        complete(task, with: .failure(code))
    }

    /// Lets go of a held task without completing it, as a faulty loader would.
    public func forget(_ task: HTTPTask) {
        _ = state.withLock { $0.remove(task) }
    }

    private func complete(_ task: HTTPTask, with answer: Answer) -> Bool {
        _ = state.withLock { $0.remove(task) }
        switch answer {
        case .success(let status, let headers, let body):
            return task.complete(
                .success(
                    HTTPResponse(request: task.request, status: status, headers: headers, body: Data(body.utf8))))
        case .failure(let code):
            return fail(task, code)
        }
    }

    // MARK: As a loader

    /// Keeps the task, or answers it by the script.
    public override func load(task: HTTPTask) {
        do {
            _ = try task.request.encoded()
        } catch {
            task.complete(.failure(error))
            return
        }
        if let script {
            state.withLock { $0.requests.append(task.request) }
            _ = complete(task, with: script(task.request))
            return
        }
        let waiting = state.withLock { $0.hold(task) }
        // It may end elsewhere, by somebody above who gives it up.
        task.addCompletionHandler { [weak self, weak task] in
            if let task { self?.forget(task) }
        }
        if cancelReaction == .completes {
            task.addCancelHandler { [weak self] task in _ = self?.complete(task, with: .failure(.cancelled)) }
        }
        waiting?.resume(returning: task)
    }

    /// Cancels what is held, and finishes when all of it has completed.
    public override func reset(with group: DispatchGroup) {
        for task in held {
            group.enter()
            task.addCompletionHandler { group.leave() }
            task.cancel()
        }
        super.reset(with: group)
    }

    /// How many requests arrived, and how many are held.
    public override var details: String {
        state.withLock { "received \($0.requests.count), held \($0.heldCount)" }
    }
}

extension ScriptedTerminal {
    /// What has arrived and who waits for it; tasks are numbered as they arrive.
    private struct State {
        var requests: [HTTPRequest] = []
        private var tasks: [Int: HTTPTask] = [:]
        private var numbers: [ObjectIdentifier: Int] = [:]
        private var arrived = 0
        private var firstUntaken = 0
        private(set) var wakes = 0
        private var waiting: [UnsafeContinuation<HTTPTask?, Never>] = []

        var held: [HTTPTask] { tasks.sorted { $0.key < $1.key }.map(\.value) }
        var heldCount: Int { tasks.count }

        enum Arrival { case task(HTTPTask), wake, wait }

        /// Keeps a task, and returns who is to be given it.
        mutating func hold(_ task: HTTPTask) -> UnsafeContinuation<HTTPTask?, Never>? {
            requests.append(task.request)
            // One that is loaded twice is held once.
            guard numbers[ObjectIdentifier(task)] == nil else { return nil }
            tasks[arrived] = task
            numbers[ObjectIdentifier(task)] = arrived
            arrived += 1
            guard !waiting.isEmpty else { return nil }
            firstUntaken = arrived
            return waiting.removeFirst()
        }

        mutating func arrival(
            orWakeAfter wakes: Int, for continuation: UnsafeContinuation<HTTPTask?, Never>
        ) -> Arrival {
            while firstUntaken < arrived {
                firstUntaken += 1
                // One that was answered before anybody took it is passed over.
                if let task = tasks[firstUntaken - 1] { return .task(task) }
            }
            guard self.wakes == wakes else { return .wake }
            waiting.append(continuation)
            return .wait
        }

        mutating func wake() -> [UnsafeContinuation<HTTPTask?, Never>] {
            wakes += 1
            return exchange(&waiting, with: [])
        }

        /// Lets go of a task; what is returned keeps it until the lock is open again.
        mutating func remove(_ task: HTTPTask) -> HTTPTask? {
            numbers.removeValue(forKey: ObjectIdentifier(task)).flatMap { tasks.removeValue(forKey: $0) }
        }
    }
}
