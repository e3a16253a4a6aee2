// Terminal/Transfer: what the transfers of every terminal are made of: their state machine, their deadlines, their progress.

import Dispatch

/// Calls a user's progress closure on a queue of its own.
///
/// At most one call is pending, and it reports the newest progress. Progress that is equal to the last is not reported again.
package final class ProgressReporter: Sendable {
    private let onProgress: @Sendable (TransferProgress) -> Void
    private let queue: DispatchQueue
    private let latest = Locked(Latest())

    private struct Latest {
        var progress: TransferProgress?
        /// Whether no call is pending that will report it.
        var isReported = true
        var hasEnded = false
    }

    package init(_ onProgress: @escaping @Sendable (TransferProgress) -> Void, on queue: DispatchQueue) {
        self.onProgress = onProgress
        self.queue = queue
    }

    package func report(_ progress: TransferProgress) {
        let isNeeded = latest.withLock { latest in
            guard !latest.hasEnded, latest.progress != progress else { return false }
            latest.progress = progress
            return replace(&latest.isReported, with: false)
        }
        guard isNeeded else { return }
        queue.async { [self] in
            let newest = latest.withLock { latest in
                latest.isReported = true
                return latest.progress
            }
            if let newest { onProgress(newest) }
        }
    }

    /// Reports nothing more.
    package func end() { latest.withLock { $0 = Latest(hasEnded: true) } }
}
