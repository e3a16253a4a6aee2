import Dispatch
import LoaderChain

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
