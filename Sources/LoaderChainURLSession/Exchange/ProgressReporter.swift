import Dispatch
import LoaderChain

/// Calls a user's progress closure on a queue of its own.
///
/// At most one call is pending, and it reports the newest progress.
final class ProgressReporter: Sendable {
    private let onProgress: @Sendable (TransferProgress) -> Void
    private let queue: DispatchQueue
    private let latest = Locked<TransferProgress?>(nil)

    init(_ onProgress: @escaping @Sendable (TransferProgress) -> Void, on queue: DispatchQueue) {
        self.onProgress = onProgress
        self.queue = queue
    }

    func report(_ progress: TransferProgress) {
        let isWaiting = latest.withLock { replace(&$0, with: progress) != nil }
        guard !isWaiting else { return }
        queue.async { [self] in
            if let progress = latest.withLock({ replace(&$0, with: nil) }) { onProgress(progress) }
        }
    }
}
