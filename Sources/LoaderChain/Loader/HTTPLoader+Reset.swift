import Dispatch

extension HTTPLoader {
    /// Resets the chain from this loader on, and calls back when every loader has finished.
    ///
    /// A call during a reset of this loader joins that reset, and is called back with it.
    ///
    /// - Parameters:
    ///   - queue: where to call back. The default is a global queue, which works while the main thread is blocked.
    ///   - completion: called once.
    @preconcurrency
    public final func reset(
        on queue: DispatchQueue = .global(), completion: @escaping @Sendable () -> Void
    ) {
        guard ResetInProgress.join(self, Waiter(queue: queue, completion: completion)) else { return }
        let group = DispatchGroup()
        group.enter()
        reset(with: group)
        // Registered before the group can empty, so that later uses of the group do not delay the notification.
        group.notify(queue: .global()) {
            for waiter in ResetInProgress.end(self) { waiter.queue.async(execute: waiter.completion) }
        }
        group.leave()
    }

    /// Resets the chain from this loader on, and returns when every loader has finished.
    public final func reset() async {
        await withUnsafeContinuation { continuation in
            reset { continuation.resume() }
        }
    }

    fileprivate struct Waiter {
        let queue: DispatchQueue
        let completion: @Sendable () -> Void
    }
}

/// The callers that wait for the reset of a loader.
private enum ResetInProgress {
    private static let waiters = Locked<[ObjectIdentifier: [HTTPLoader.Waiter]]>([:])

    /// Adds a waiter, and returns whether the reset has yet to be started.
    static func join(_ loader: HTTPLoader, _ waiter: HTTPLoader.Waiter) -> Bool {
        waiters.withLock { waiters in
            let isFirst = waiters[ObjectIdentifier(loader)] == nil
            waiters[ObjectIdentifier(loader), default: []].append(waiter)
            return isFirst
        }
    }

    static func end(_ loader: HTTPLoader) -> [HTTPLoader.Waiter] {
        waiters.withLock { $0.removeValue(forKey: ObjectIdentifier(loader)) ?? [] }
    }
}
