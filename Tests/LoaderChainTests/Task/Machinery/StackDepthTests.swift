import Dispatch
import LoaderChainPlatformC
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// None of these may need a stack that grows with its count, so all run on a small one.
///
/// A hundred thousand calls within each other need 1.6 MB at the least, 16 bytes each, and the stack has half a megabyte.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StackDepthTests {
    @Test func hundredThousandHandlersFitSmallStack() throws {
        try onASmallStack {
            let count = Locked(0)
            let task = HTTPTask(request: .sample)
            for _ in 0..<100_000 { task.addCompletionHandler { count.withLock { $0 += 1 } } }
            task.complete(.sample)
            #expect(count.withLock { $0 } == 100_000)
        }
    }

    @Test func hundredThousandQueuedTasksFitSmallStack() throws {
        try onASmallStack {
            let terminal = HeldUp()
            let chain = OneAtATime() --> terminal
            let count = Locked(0)
            let request = HTTPRequest.sample
            for _ in 0..<100_000 { chain.load(request: request) { _ in count.withLock { $0 += 1 } } }
            #expect(count.withLock { $0 } == 0)
            terminal.letGo()
            #expect(count.withLock { $0 } == 100_000)
        }
    }

    @Test func hundredThousandAttemptsFitSmallStack() throws {
        try onASmallStack {
            let count = Locked(0)
            let chain = Persistent(attempts: 100_000) --> Answering { count.withLock { $0 += 1 } }
            let log = EventLog()
            chain.load(request: .sample) { log.note($0.summary) }
            #expect(log.events == ["response"])
            #expect(count.withLock { $0 } == 100_000)
        }
    }

    @Test func lateHandlersThatLoadAgainFitSmallStack() throws {
        try onASmallStack {
            let chain = HTTPLoader() --> Answering {}
            let count = Locked(0)
            @Sendable func loadAgain() {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                guard number < 100_000 else { return }
                let task = HTTPTask(request: .sample)
                chain.load(task: task)
                task.addCompletionHandler { loadAgain() }
            }
            loadAgain()
            #expect(count.withLock { $0 } == 100_000)
        }
    }

    @Test func reloadingHandlerBehindThousandLoadersFitsSmallStack() throws {
        try onASmallStack {
            let chain = (0..<1_000).reduce(Answering {} as HTTPLoader) { chain, _ in Listening() --> chain }
            let count = Locked(0)
            @Sendable func loadAgain() {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number < 50 { chain.load(request: .sample) { _ in loadAgain() } }
            }
            loadAgain()
            #expect(count.withLock { $0 } == 50)
        }
    }

    @Test func cancelOfTenThousandNestedAttemptsFitsSmallStack() throws {
        try onASmallStack {
            let task = HTTPTask(request: .sample)
            var attempts = [task]
            for _ in 0..<10_000 { attempts.append(attempts[attempts.count - 1].makeAttempt()) }
            task.cancel()
            #expect(attempts.last?.isCancelled == true)
            // From the last to the first, so that the release does not nest either.
            while !attempts.isEmpty { attempts.removeLast() }
        }
    }

    @Test func chainedCancelsOfTenThousandTasksFitSmallStack() throws {
        try onASmallStack {
            let tasks = (0..<10_000).map { _ in HTTPTask(request: .sample) }
            for (task, next) in zip(tasks, tasks.dropFirst()) { task.addCancelHandler { next.cancel() } }
            tasks[0].cancel()
            #expect(tasks.last?.isCancelled == true)
        }
    }

    @Test func thousandLoadersLoadResetAndReleaseOnSmallStack() throws {
        try onASmallStack {
            weak var first: HTTPLoader?
            weak var last: HTTPLoader?
            do {
                let answering = Answering {}
                last = answering
                let chain = (0..<1_000).reduce(answering as HTTPLoader) { chain, _ in Listening() --> chain }
                first = chain
                let log = EventLog()
                chain.load(request: .sample) { log.note($0.summary) }
                #expect(log.events == ["response"])
                let done = DispatchSemaphore(value: 0)
                chain.reset { done.signal() }
                #expect(done.wait(timeout: .patient) == .success)
            }
            // The reset's last act, on another thread, is to let go of the chain.
            let end = DispatchTime.patient
            while first != nil || last != nil, .now() < end { sched_yield() }
            #expect(first == nil && last == nil)
        }
    }

    @Test func hundredThousandLoadersAreReleasedOnSmallStack() throws {
        try onASmallStack {
            weak var last: HTTPLoader?
            do {
                let chain = HTTPLoader()
                var tail = chain
                for _ in 0..<100_000 {
                    let next = HTTPLoader()
                    tail.nextLoader = next
                    tail = next
                }
                last = tail
                #expect(chain.nextLoader != nil)
            }
            #expect(last == nil)
        }
    }

    /// Runs on a thread with half a megabyte of stack.
    private func onASmallStack(_ body: @escaping @Sendable () -> Void) throws {
        try onThreads(1) { _ in body() }
    }
}

/// Answers at once, after a call of a closure.
private final class Answering: HTTPLoader, @unchecked Sendable {
    private let tell: @Sendable () -> Void
    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

    override func load(task: HTTPTask) {
        tell()
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}

/// Holds its first task up, and answers all others at once.
private final class HeldUp: HTTPLoader, @unchecked Sendable {
    private let first = Locked<HTTPTask?>(nil)
    private let isFirst = Locked(true)

    override func load(task: HTTPTask) {
        if isFirst.withLock({ replace(&$0, with: false) }) {
            first.withLock { $0 = task }
        } else {
            task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
        }
    }

    func letGo() { first.withLock { replace(&$0, with: nil) }?.complete(.sample) }
}

/// Hears of every task's end, as most loaders do.
private final class Listening: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        task.addCompletionHandler {}
        super.load(task: task)
    }
}
