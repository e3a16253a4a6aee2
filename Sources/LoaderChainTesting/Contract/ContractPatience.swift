import Dispatch
import LoaderChain
import Synchronization

/// How long a check waits for an event that a correct loader brings about soon.
///
/// Time alone says little on a busy machine. So the time is followed by a number of turns, each of which goes through the threads
/// that loaders use: what had been waiting there has run before the check gives up. Only a loader that keeps one of its promises
/// too late, or never, costs this time.
struct ContractPatience: Sendable {
    let time: Duration
    /// More than any loader takes for one task.
    private static let turns = 100
    /// How long the turns may take altogether, in seconds.
    ///
    /// While many tests share a few threads, one turn may take as long as most of them. So only threads that are blocked for good
    /// exhaust this.
    private static let longestDelay = 300.0

    /// Waits until `isOver` holds, and looks again whenever `wait` returns, which waits for an event until a deadline.
    func wait(until isOver: () -> Bool, _ wait: (DispatchTime) -> Void) -> Bool {
        let deadline = DispatchTime.now() + Double(time / .seconds(1))
        while DispatchTime.now() < deadline {
            if isOver() { return true }
            wait(deadline)
        }
        let last = deadlineOfTurns
        for _ in 0..<Self.turns {
            if isOver() { return true }
            guard Self.takeTurn(until: last) else { break }
            wait(.now())
        }
        return isOver()
    }

    /// When to give up on threads: those that have not run until then are blocked for good.
    var deadlineOfTurns: DispatchTime { .now() + Self.longestDelay }

    /// Goes through the threads that loaders use as often as before giving up.
    func takeAllTurns() { Self.takeTurns(Self.turns, until: deadlineOfTurns) }

    /// Goes some times through the threads that loaders use, so that what waits there runs.
    static func takeTurns(_ count: Int, until deadline: DispatchTime = .now() + 1) {
        for _ in 0..<count where !takeTurn(until: deadline) { return }
    }

    /// Goes once through the threads of dispatch queues and of Swift's tasks; false if one of them has no thread left.
    static func takeTurn(until deadline: DispatchTime) -> Bool {
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { Task.detached { isOver.signal() } }
        return isOver.wait(timeout: deadline) == .success
    }
}

/// Wakes the thread of a check when something happens, so that it waits for events and not for time.
final class ContractSignal: Sendable {
    private let count = Atomic(0)
    private let wakes = DispatchSemaphore(value: 0)

    /// How many events there were so far.
    var events: Int { count.load(ordering: .acquiring) }

    /// Notes an event, from any thread.
    func raise() {
        count.add(1, ordering: .releasing)
        wakes.signal()
    }

    /// Waits for an event after the first `events`, and returns false if none comes by `deadline`.
    func wait(after events: Int, until deadline: DispatchTime) -> Bool {
        // The semaphore also knows of events that nobody has waited for.
        while self.events == events, wakes.wait(timeout: deadline) == .success {}
        return self.events != events
    }
}

/// Threads of the checks' own, which a blocking loader may occupy forever.
///
/// Swift's tasks and dispatch queues share a few threads with the rest of the program. A thread that has done its work waits here
/// for more, since starting one takes longer than most parts of a check.
enum ContractThreads {
    private static let idle = Locked<[Worker]>([])
    /// How many threads wait for work at most.
    private static let mostIdle = 16

    /// Runs `body` on a thread that runs nothing else.
    static func run(_ body: @escaping @Sendable () -> Void) {
        if let worker = idle.withLock({ $0.popLast() }) { return worker.take(body) }
        let worker = Worker(body)
        do throws(SystemError) {
            // A loader that nests too deeply is found long before this is used up.
            try SystemThread(stackSize: 8 << 20) { worker.work() }.detach()
        } catch {
            // The system has no thread left. A shared one is better than none.
            DispatchQueue.global().async { worker.work(once: true) }
        }
    }

    /// A thread that works, or waits for work.
    private final class Worker: Sendable {
        private let work: Locked<(@Sendable () -> Void)?>
        private let arrives = DispatchSemaphore(value: 0)

        init(_ work: @escaping @Sendable () -> Void) { self.work = Locked(work) }

        func take(_ work: @escaping @Sendable () -> Void) {
            self.work.withLock { $0 = work }
            arrives.signal()
        }

        func work(once: Bool = false) {
            while true {
                // What the work holds is released before the next wait.
                work.withLock { replace(&$0, with: nil) }?()
                guard !once, becomeIdle() else { return }
                arrives.wait()
            }
        }

        private func becomeIdle() -> Bool {
            idle.withLock { idle in
                guard idle.count < mostIdle else { return false }
                idle.append(self)
                return true
            }
        }
    }
}
