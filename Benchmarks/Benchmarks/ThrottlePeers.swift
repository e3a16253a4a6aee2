import BenchmarkSupport
import Dispatch
import Foundation
import LoaderChain

/// What others offer for running no more than so many things at once, at its plainest.
func throttlePeerBenchmarks() -> [Benchmark] {
    let suite = Suite()
    suite.add("peer/operation-queue", "Adds a block to an OperationQueue that runs one at a time, and has it run.") {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return { iterations in
            for _ in 0..<iterations { queue.addOperation {} }
            queue.waitUntilAllOperationsAreFinished()
        }
    }
    suite.add("peer/actor", "Awaits one of four slots of an actor, and gives it back.") {
        let slots = Slots(4)
        return { iterations in
            let done = DispatchSemaphore(value: 0)
            Task {
                for _ in 0..<iterations {
                    await slots.take()
                    await slots.giveBack()
                }
                done.signal()
            }
            done.wait()
        }
    }
    return suite.benchmarks
}

/// Waits on the caller's thread, as a semaphore does.
final class SemaphoreThrottle: HTTPLoader, HTTPTaskObserver, @unchecked Sendable {
    private let semaphore: DispatchSemaphore
    init(slots: Int) { semaphore = DispatchSemaphore(value: slots) }

    override func load(task: HTTPTask) {
        semaphore.wait()
        task.addObserver(self)
        super.load(task: task)
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) { semaphore.signal() }
}

/// The throttle of the article: a dictionary of what runs and an array of what waits, and a lock, which the article leaves
/// to its reader.
final class ArticleThrottle: HTTPLoader, @unchecked Sendable {
    private struct State {
        var executing: [UUID: HTTPTask] = [:]
        var pending: [HTTPTask] = []
    }
    private let state = Guarded(State())
    private let limit: Int
    init(limit: Int) { self.limit = limit }

    override func load(task: HTTPTask) {
        let starts = state.withLock { state in
            guard state.executing.count < limit else {
                state.pending.append(task)
                return false
            }
            state.executing[task.id] = task
            return true
        }
        if starts { start(task) }
    }

    private func start(_ task: HTTPTask) {
        let id = task.id
        task.addCompletionHandler { self.finish(id) }
        super.load(task: task)
    }

    private func finish(_ id: UUID) {
        let (_, next) = state.withLock { state -> (HTTPTask?, HTTPTask?) in
            let finished = state.executing.removeValue(forKey: id)
            guard state.executing.count < limit, !state.pending.isEmpty else { return (finished, nil) }
            let next = state.pending.removeFirst()
            state.executing[next.id] = next
            return (finished, next)
        }
        if let next { start(next) }
    }
}

private actor Slots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    init(_ free: Int) { self.free = free }

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
