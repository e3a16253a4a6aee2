import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting
import Synchronization

/// A dozen lines of user code, repeated until the time is over.
///
/// They prove that the process survives in a release build, which is what users ship: a reference that is read and written under
/// a lock that the optimizer can see through is used after it was freed here.
struct Program: Sendable {
    let name: String
    /// Runs the lines once, or starts the threads that do; returns when all of it is over.
    let round: @Sendable () -> Void

    static let all = [requestOnTwoThreads, hedging, endingBesideAttempts, headersBesideCancel, environmentTwice]

    func run(for time: Duration) {
        let end = ContinuousClock.now + time
        var rounds = 0
        let ledger = Ledger(title: "program \(name)")
        let count = Locked(0)
        let watchdog = Watchdog(ledger, patience: 60) { "\(count.withLock { $0 }) rounds are over" }
        while ContinuousClock.now < end {
            round()
            rounds += 1
            let done = rounds
            count.withLock { $0 = done }
        }
        watchdog.stop()
        say("\(name): \(rounds) rounds")
    }
}

extension Program {
    /// One thread writes the request of a task, another reads it.
    static let requestOnTwoThreads = Program(name: "request-on-two-threads") {
        let task = HTTPTask(request: HTTPRequest(host: "a.test", path: "/"))
        together(1_000) { number in
            task.request = HTTPRequest(host: "\(number).test", path: "/\(number)")
        } and: { _ in
            _ = task.request.path.utf8.count
        }
    }

    /// Two attempts, completed on two threads; the first result is the task's.
    static let hedging = Program(name: "hedging") {
        let count = 500
        let terminal = Waiting()
        let chain = Hedge() --> terminal
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            chain.load(request: HTTPRequest(host: "a.test", path: "/\(number)")) { _ in group.leave() }
        }
        together(count) { number in
            terminal.answer(2 * number)
        } and: { number in
            terminal.answer(2 * number + 1)
        }
        group.wait()
    }

    /// A task is completed on one thread, while attempts of it end on another.
    static let endingBesideAttempts = Program(name: "ending-beside-attempts") {
        let tasks = (0..<1_000).map { _ in HTTPTask(request: HTTPRequest(host: "a.test")) }
        // Nothing else retains the attempts, so each is released when it ends.
        let attempts = tasks.map { task in Locked((0..<4).map { _ in task.makeAttempt() }) }
        together(tasks.count) { number in
            tasks[number].complete(response(to: tasks[number]))
        } and: { number in
            var attempts = attempts[number].withLock { replace(&$0, with: []) }
            while let attempt = attempts.popLast() { attempt.complete(response(to: attempt)) }
        }
    }

    /// Headers are written in place on one thread, beside a cancel on another whose handler fails the task.
    static let headersBesideCancel = Program(name: "headers-beside-cancel") {
        let tasks = (0..<1_000).map { _ in
            let task = HTTPTask(request: HTTPRequest(host: "a.test"))
            task.addCancelHandler { (task: HTTPTask) in task.fail(.cancelled, reason: "It was cancelled") }
            return task
        }
        together(tasks.count) { number in
            for value in 0..<4 { tasks[number].request.headers["X-Value"] = "\(value)" }
        } and: { number in
            tasks[number].cancel()
        }
    }

    /// Two environments below a hop to another thread, while the caller reads the task and cancels it.
    static let environmentTwice = Program(name: "environment-twice") {
        let environment = ServerEnvironment(host: "a.test", pathPrefix: "/v1", headers: ["X-A": "1"])
        let other = ServerEnvironment(host: "b.test", headers: ["X-B": "2"], query: [HTTPQueryItem("c", "3")])
        let count = 500
        let hop = Waiting()
        let answering = Answering()
        let chain =
            hop --> ApplyEnvironment(environment: environment) --> ApplyEnvironment(environment: other) --> answering
        let group = DispatchGroup()
        let tasks = (0..<count).map { number in
            group.enter()
            return chain.load(request: HTTPRequest(path: "people/\(number)")) { _ in group.leave() }
        }
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for number in 0..<count {
                if thread == 0 {
                    hop.passOn(number)
                } else {
                    while !tasks[number].isCompleted { _ = tasks[number].description }
                    if number + 4 < count, number % 4 == 0 { tasks[number + 4].cancel() }
                }
            }
        }
        group.wait()
    }

    private static func response(to task: HTTPTask) -> HTTPResult {
        .success(HTTPResponse(request: task.request, status: .ok))
    }

    /// Runs two closures on two threads, `count` times each, both at the same moment.
    private static func together(
        _ count: Int, _ first: @escaping @Sendable (Int) -> Void, and second: @escaping @Sendable (Int) -> Void
    ) {
        let arrived = Arrivals()
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for number in 0..<count {
                arrived.wait(for: 2 * (number + 1))
                thread == 0 ? first(number) : second(number)
            }
        }
    }
}

/// A barrier for threads.
///
/// They spin, because a thread that had to be woken would come too late for the race.
private final class Arrivals: Sendable {
    private let count = Atomic(0)

    func wait(for all: Int) {
        count.wrappingAdd(1, ordering: .acquiringAndReleasing)
        var tries = 0
        while count.load(ordering: .acquiring) < all {
            tries += 1
            // The other thread may need this processor.
            if tries % 1_000 == 0 { sched_yield() }
        }
    }
}

/// Holds tasks in the order of their arrival, until it is told what to do with each.
private final class Waiting: HTTPLoader, @unchecked Sendable {
    private let tasks = Locked<[HTTPTask?]>([])

    override func load(task: HTTPTask) { tasks.withLock { $0.append(task) } }

    func answer(_ number: Int) {
        guard let task = take(number) else { return }
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }

    func passOn(_ number: Int) {
        if let task = take(number) { super.load(task: task) }
    }

    private func take(_ number: Int) -> HTTPTask? { tasks.withLock { $0[number].take() } }
}

/// Responds at once.
private final class Answering: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}
