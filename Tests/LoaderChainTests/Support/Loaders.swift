import Dispatch
import LoaderChainTesting

@testable import LoaderChain

/// Passes everything on, under a name of its own.
final class NamedLoader: HTTPLoader, @unchecked Sendable {
    private let givenName: String
    init(_ name: String) { givenName = name }
    override var name: String { givenName }
}

/// Leads to several chains in addition to its next loader, and passes tasks on to the first.
final class ForkedLoader: HTTPLoader, @unchecked Sendable {
    private let forks: [HTTPLoader]
    init(_ forks: [HTTPLoader]) { self.forks = forks }
    override var branches: [HTTPLoader] { forks }
    override func load(task: HTTPTask) { forks[0].load(task: task) }
}

/// Counts its resets, and finishes each only when a test lets it.
final class SlowToReset: HTTPLoader, @unchecked Sendable {
    private let groups = Locked<[DispatchGroup]>([])
    let log = EventLog()

    var resets: Int { groups.withLock { $0.count } }

    override func reset(with group: DispatchGroup) {
        group.enter()
        groups.withLock { $0.append(group) }
        log.note("reset")
        super.reset(with: group)
    }

    func finish() {
        for group in groups.withLock({ replace(&$0, with: []) }) { group.leave() }
    }
}

extension HTTPLoader {
    /// Loads a request, and returns the code of its error; nil for a response.
    func errorCode(of request: HTTPRequest = .sample) async -> HTTPError.Code? {
        do {
            _ = try await load(request)
            return nil
        } catch {
            return error.code
        }
    }

    /// Resets the chain, in which `slow` finishes as soon as it is reached.
    func reset(finishing slow: SlowToReset) async {
        let reached = slow.log.events.count + 1
        async let reset: Void = self.reset()
        await slow.log.waitForEvents(reached)
        slow.finish()
        await reset
    }
}

extension ScriptedTerminal {
    /// Answers the tasks that it holds, and those that come meanwhile.
    func answerAll() {
        while let task = held.first { answer(task) }
    }
}

/// Keeps every task until the test answers it, whatever happens.
final class StubbornTerminal: HTTPLoader, @unchecked Sendable {
    private let tasks = Locked<[HTTPTask]>([])
    /// Notes each arrival.
    let log = EventLog()
    var count: Int { tasks.withLock { $0.count } }

    override func load(task: HTTPTask) {
        tasks.withLock { $0.append(task) }
        log.note("")
    }

    func answerAll() {
        for task in tasks.withLock({ replace(&$0, with: []) }) {
            task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
        }
    }
}

/// Counts its resets.
final class ResetCounter: HTTPLoader, @unchecked Sendable {
    private let counted = Locked(0)
    var count: Int { counted.withLock { $0 } }

    override func reset(with group: DispatchGroup) {
        counted.withLock { $0 += 1 }
        super.reset(with: group)
    }
}

/// Tries again at once, a number of times, whatever the result.
final class Persistent: HTTPLoader, @unchecked Sendable {
    private let attempts: Int
    init(attempts: Int) { self.attempts = attempts }

    override func load(task: HTTPTask) { attempt(task, left: attempts) }

    private func attempt(_ task: HTTPTask, left: Int) {
        let attempt = task.makeAttempt()
        attempt.addCompletionHandler { result in
            if left > 1 { self.attempt(task, left: left - 1) } else { task.complete(result) }
        }
        super.load(task: attempt)
    }
}

/// Lets one task through at a time, as plainly as it can be written.
final class OneAtATime: HTTPLoader, @unchecked Sendable {
    private struct State {
        var isBusy = false
        var waiting: [HTTPTask] = []
        var first = 0
    }
    private let state = Locked(State())

    override func load(task: HTTPTask) {
        let starts = state.withLock { state in
            if state.isBusy { state.waiting.append(task) }
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if starts { start(task) }
    }

    private func start(_ task: HTTPTask) {
        task.addCompletionHandler { self.startNext() }
        super.load(task: task)
    }

    private func startNext() {
        let next: HTTPTask? = state.withLock { state in
            guard state.first < state.waiting.count else {
                state.isBusy = false
                return nil
            }
            defer { state.first += 1 }
            return state.waiting[state.first]
        }
        if let next { start(next) }
    }
}
