import LoaderChainPlatformC
import LoaderChainTesting

/// Divides `0..<total` among threads that all begin at once, and returns when the last of them is done.
///
/// A sample is the wall time from the moment the threads are released until the last one has finished its range; starting
/// and joining them is not included.
package func onThreads(_ count: Int, total: Int, _ body: @escaping @Sendable (Range<Int>) -> Void) {
    let entered = ContinuousClock.now
    let race = Race(runners: count)
    let threads = (0..<count).map { index in
        let range = (total * index / count)..<(total * (index + 1) / count)
        return startThread {
            race.waitForStart()
            if !range.isEmpty { body(range) }
            race.finish()
        }
    }
    let started = race.start()
    let finished = race.waitForFinish()
    for thread in threads { thread.join() }
    WorkClock.leaveOut(entered.duration(to: started) + finished.duration(to: .now))
}

/// A barrier at which threads wait until all have arrived, and a finish that is timed when the last thread reaches it.
private final class Race: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let runners: Int
    private var ready = 0
    private var running = false
    private var finished = 0
    private var end = ContinuousClock.now

    init(runners: Int) {
        self.runners = runners
        lock.initialize(to: pthread_mutex_t())
        changed.initialize(to: pthread_cond_t())
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Called by a thread that is ready; waits for the others.
    func waitForStart() {
        locked {
            ready += 1
            if ready == runners { pthread_cond_broadcast(changed) }
            while !running { pthread_cond_wait(changed, lock) }
        }
    }

    /// Releases all threads once they are ready, and returns the time.
    func start() -> ContinuousClock.Instant {
        locked {
            while ready < runners { pthread_cond_wait(changed, lock) }
            running = true
            let now = ContinuousClock.now
            pthread_cond_broadcast(changed)
            return now
        }
    }

    /// Called by a thread that is done.
    func finish() {
        locked {
            finished += 1
            guard finished == runners else { return }
            end = .now
            pthread_cond_broadcast(changed)
        }
    }

    /// Waits for the last thread, and returns when it was done.
    func waitForFinish() -> ContinuousClock.Instant {
        locked {
            while finished < runners { pthread_cond_wait(changed, lock) }
            return end
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}

private func startThread(_ body: @escaping @Sendable () -> Void) -> SystemThread {
    do throws(SystemError) {
        return try SystemThread(body)
    } catch {
        preconditionFailure("no thread could be started: \(error)")
    }
}
