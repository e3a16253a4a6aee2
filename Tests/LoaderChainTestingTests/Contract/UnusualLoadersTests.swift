import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting
import TestSizes
import Testing

/// Loaders that are written in unusual ways, and keep the contract.
@Suite(.timeLimit(.minutes(10))) struct UnusualLoadersTests {
    @Test(arguments: loaders.map(\.name))
    func keepsTheContract(name: String) async {
        for loader in Self.loaders where loader.name == name {
            let violations = await ContractCheck(patience: .patient, tasks: 300, loader.make).run()
            #expect(violations.isEmpty, "\(violations)")
        }
    }

    static let loaders: [(name: String, make: @Sendable (ManualTimers) -> HTTPLoader)] = [
        ("hops to a serial queue", { _ in HopsQueues() }),
        ("answers on a thread of its own", { _ in AnswersOnItsOwnThread() }),
        ("retries by attempts", { _ in RetriesByAttempts() }),
        ("delays tasks by a timer", { DelaysTasks($0) }),
        ("rewrites options and addresses", { _ in RewritesOptions() }),
        ("is async, and sleeps between two requests", { Autocancel() --> SleepsInBetween($0) }),
        ("keeps its state in an actor", { _ in CountsInAnActor() }),
        ("asks twice and takes the first answer", { _ in AsksTwice() }),
        ("lets one task run at a time", { _ in OneAtATime() }),
        ("sends a request of its own first", { _ in AsksForATicket() }),
    ]
}

private final class HopsQueues: HTTPLoader, @unchecked Sendable {
    private let queue = DispatchQueue(label: "HopsQueues")
    override func load(task: HTTPTask) { queue.async { super.load(task: task) } }
}

private final class AnswersOnItsOwnThread: HTTPLoader, @unchecked Sendable {
    private let queue = DispatchQueue(label: "AnswersOnItsOwnThread")
    override func load(task: HTTPTask) {
        let attempt = task.makeAttempt()
        attempt.addCompletionHandler { [queue] result in queue.async { task.complete(result) } }
        super.load(task: attempt)
    }
}

private final class RetriesByAttempts: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) { load(task, attempts: 3) }

    private func load(_ task: HTTPTask, attempts: Int) {
        let attempt = task.makeAttempt()
        attempt.addCompletionHandler { result in
            guard attempts > 1, result.error != nil, !task.isCancelled else {
                task.complete(result)
                return
            }
            self.load(task, attempts: attempts - 1)
        }
        super.load(task: attempt)
    }
}

/// Holds every task for a second.
private final class DelaysTasks: HTTPLoader, @unchecked Sendable {
    private let timers: ManualTimers
    private let waiting = Locked<[ObjectIdentifier: HTTPTask]>([:])

    init(_ timers: ManualTimers) { self.timers = timers }

    override func load(task: HTTPTask) {
        let id = ObjectIdentifier(task)
        waiting.withLock { $0[id] = task }
        let timer = timers.schedule(after: .seconds(1)) { [weak self] in
            if let self, let task = take(id) { pass(task) }
        }
        task.addCancelHandler { [weak self] _ in
            timer.cancel()
            if let self, let task = take(id) { fail(task, .cancelled) }
        }
    }

    override func reset(with group: DispatchGroup) {
        for task in waiting.withLock({ replace(&$0, with: [:]) }).values { fail(task, .resetInProgress) }
        super.reset(with: group)
    }

    private func pass(_ task: HTTPTask) { super.load(task: task) }
    private func take(_ id: ObjectIdentifier) -> HTTPTask? { waiting.withLock { $0.removeValue(forKey: id) } }
}

private enum UnusualOption: HTTPRequestOption {
    static var defaultOptionValue: Int { 0 }
}

private final class RewritesOptions: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        var request = task.request
        request[option: UnusualOption.self] += 1
        request.host = "mirror.test"
        request.path = "/mirror" + request.path
        task.request = request
        super.load(task: task)
    }
}

private final class SleepsInBetween: AsyncLoader, @unchecked Sendable {
    private let timers: ManualTimers
    init(_ timers: ManualTimers) { self.timers = timers }
    override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        do {
            return try await next(request)
        } catch let error as HTTPError where error.code == .connectionLost {
            try await timers.sleep(for: .seconds(1))
            return try await next(request)
        }
    }
}

private final class CountsInAnActor: HTTPLoader, @unchecked Sendable {
    private actor Counter {
        private(set) var count = 0
        func add() { count += 1 }
    }
    private let counter = Counter()
    override func load(task: HTTPTask) {
        Task {
            await counter.add()
            super.load(task: task)
        }
    }
}

private final class AsksTwice: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        let attempts = [task.makeAttempt(), task.makeAttempt()]
        let left = Locked(attempts.count)
        for attempt in attempts {
            attempt.addCompletionHandler { result in
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                // A failure, or a cancel, waits for the other attempt.
                if isLast || (result.error == nil && !task.isCancelled) { task.complete(result) }
            }
        }
        for attempt in attempts { super.load(task: attempt) }
    }
}

private final class OneAtATime: HTTPLoader, @unchecked Sendable {
    private struct State {
        var isBusy = false
        var waiting: [HTTPTask] = []
    }
    private let state = Locked(State())

    override func load(task: HTTPTask) {
        let waits = state.withLock { state in
            if state.isBusy { state.waiting.append(task) }
            return replace(&state.isBusy, with: true)
        }
        guard waits else { return pass(task) }
        task.addCancelHandler { [weak self] task in if self?.remove(task) == true { task.fail(.cancelled) } }
    }

    override func reset(with group: DispatchGroup) {
        for task in state.withLock({ replace(&$0.waiting, with: []) }) { fail(task, .resetInProgress) }
        super.reset(with: group)
    }

    private func pass(_ task: HTTPTask) {
        task.addCompletionHandler { [weak self] in self?.passNext() }
        super.load(task: task)
    }

    private func passNext() {
        let next = state.withLock { state -> HTTPTask? in
            state.isBusy = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        if let next { pass(next) }
    }

    private func remove(_ task: HTTPTask) -> Bool {
        state.withLock { state in
            let index = state.waiting.firstIndex { $0 === task }
            if let index { state.waiting.remove(at: index) }
            return index != nil
        }
    }
}

private final class AsksForATicket: AsyncLoader, @unchecked Sendable {
    override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let ticket = try await next(HTTPRequest(method: .post, host: "tickets.test", path: "/ticket"))
        var request = request
        request.headers["X-Ticket"] = "\(ticket.status.rawValue)"
        return try await next(request)
    }
}
