import BenchmarkSupport
import Dispatch
import Foundation
import LoaderChain

/// Other ways to limit concurrency, in their plainest form.
///
/// Those that can be loaders are measured as loaders, by what they add to a loader that passes everything on; the others by an
/// operation that does nothing, which is the least that they can cost.
func throttlePeerBenchmarks() -> [Benchmark] {
    let suite = Suite()
    func addLoader(_ name: String, _ workload: String, _ loader: @escaping () -> HTTPLoader) {
        suite.add(
            .slope(
                name, "The same for " + workload, peer: "throttle/uncontended",
                small: (0, atOnce { PassingLoader() }), large: (1, atOnce(loader))))
    }
    addLoader("peer/semaphore", "a loader that waits for a DispatchSemaphore and signals it at the end.") {
        SemaphoreThrottle(slots: 4)
    }
    addLoader("peer/article-throttle", "the article's throttle with a lock around its state.") {
        ArticleThrottle(limit: 4)
    }
    addLoader("peer/dispatch-queue", "a loader whose state belongs to a serial dispatch queue, one for each throttle.")
    {
        QueueThrottle(limit: 4)
    }

    suite.add(
        "peer/operation-queue", "Adds a block to an OperationQueue that runs one at a time, and waits for it.",
        peer: "throttle/uncontended"
    ) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return { iterations in
            for _ in 0..<iterations { queue.addOperation {} }
            queue.waitUntilAllOperationsAreFinished()
        }
    }
    suite.add("peer/actor", "Awaits one of four slots of an actor, and returns it.", peer: "throttle/uncontended") {
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

    for count in waitingTaskCounts {
        suite.add(
            .slope(
                "peer/article-pending-\(count)", "A task that waits behind \(count) others in the article's throttle.",
                peer: "throttle/pending-\(count)",
                small: (0, waiting(behind: count) { PassingLoader() }),
                large: (1, waiting(behind: count) { ArticleThrottle(limit: 1) })))
    }
    for threads in threadCounts {
        suite.add(
            "peer/article-threads-\(threads)",
            "A task through the article's throttle, on \(threads) threads with one throttle; the wall time for each task.",
            peer: "throttle/threads-\(threads)"
        ) { loading(threads: threads, ArticleThrottle(limit: 4)) }
    }
    return suite.benchmarks
}

/// How the cost grows with waiting tasks, and with threads that share a throttle.
func throttleFigures() -> [Figure] {
    [
        Figure(
            "waiting", "A task that waits in a throttle", x: Plot.Axis("tasks that wait", scale: .logarithmic),
            y: Plot.Axis("ns per task", scale: .logarithmic),
            curves: [
                Figure.Curve("the article's class", over: waitingTaskCounts) { "peer/article-pending-\($0)" },
                Figure.Curve("Throttle", over: waitingTaskCounts) { "throttle/pending-\($0)" },
            ]),
        Figure(
            "threads", "Tasks through one throttle", x: Plot.Axis("threads", range: 0...16),
            y: Plot.Axis("millions of tasks a second"), quantity: .millionsPerSecond,
            curves: [
                Figure.Curve("the article's class", over: threadCounts) { "peer/article-threads-\($0)" },
                Figure.Curve("Throttle", over: threadCounts) { "throttle/threads-\($0)" },
            ]),
    ]
}

/// Blocks the caller's thread, as a semaphore does.
private final class SemaphoreThrottle: HTTPLoader, HTTPTaskObserver, @unchecked Sendable {
    private let semaphore: DispatchSemaphore
    init(slots: Int) { semaphore = DispatchSemaphore(value: slots) }

    override func load(task: HTTPTask) {
        semaphore.wait()
        task.addObserver(self)
        super.load(task: task)
    }

    func task(_ task: HTTPTask, didCompleteWith result: HTTPResult) { semaphore.signal() }
}

/// The throttle of the article: a dictionary of running tasks and an array of waiting ones, and a lock, which the article
/// leaves to its readers.
private final class ArticleThrottle: HTTPLoader, ForgetfulThrottle, @unchecked Sendable {
    private struct State {
        var executing: [UUID: HTTPTask] = [:]
        var pending: [HTTPTask] = []
    }
    private let state = Locked(State())
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

    func forgetWaiting() {
        let waiting = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for task in waiting { task.cancel() }
    }
}

/// The same, with a serial queue instead of the lock.
private final class QueueThrottle: HTTPLoader, DeferringThrottle, @unchecked Sendable {
    private let queue = DispatchQueue(label: "throttle")
    private let limit: Int
    /// Both are used only on the queue.
    private var running = 0
    private var pending: [HTTPTask] = []
    init(limit: Int) { self.limit = limit }

    override func load(task: HTTPTask) {
        queue.async {
            guard self.running < self.limit else {
                self.pending.append(task)
                return
            }
            self.start(task)
        }
    }

    private func start(_ task: HTTPTask) {
        running += 1
        task.addCompletionHandler { self.queue.async { self.finish() } }
        super.load(task: task)
    }

    private func finish() {
        running -= 1
        if !pending.isEmpty { start(pending.removeFirst()) }
    }

    func drain() {
        while queue.sync(execute: { running > 0 || !pending.isEmpty }) {}
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
