// Terminal/Transfer: what the transfers of every terminal are made of: their state machine, their deadlines, their progress.

import Dispatch

/// Calls a user's progress closure on a queue of its own.
///
/// At most one call is pending, and it reports the newest progress.
package final class ProgressReporter: Sendable {
    private let onProgress: @Sendable (TransferProgress) -> Void
    private let queue: DispatchQueue
    private let latest = Locked(Latest())

    private struct Latest {
        var progress: TransferProgress?
        var hasEnded = false
    }

    package init(_ onProgress: @escaping @Sendable (TransferProgress) -> Void, on queue: DispatchQueue) {
        self.onProgress = onProgress
        self.queue = queue
    }

    package func report(_ progress: TransferProgress) {
        let isNeeded = latest.withLock { latest in
            if latest.hasEnded { return false }
            return replace(&latest.progress, with: progress) == nil
        }
        guard isNeeded else { return }
        queue.async { [self] in
            if let progress = latest.withLock({ replace(&$0.progress, with: nil) }) { onProgress(progress) }
        }
    }

    /// Reports nothing more.
    package func end() { latest.withLock { $0 = Latest(hasEnded: true) } }
}
