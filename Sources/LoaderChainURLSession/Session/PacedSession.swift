#if canImport(FoundationNetworking)
    import Dispatch
    import Foundation
    import FoundationNetworking

    /// A session that reads from the network no faster than its delegate takes what it reads.
    ///
    /// A session on Linux cannot pause a transfer. It reads what arrives on a queue of its own, and hands each piece over by
    /// an operation on the delegate's queue; while that one writes to a slow disk, the pieces pile up in memory. So this one
    /// waits where it is asked for the delegate's queue, which is before each piece, until the pile has been worked off.
    ///
    /// The wait has an end even if the delegate waits for the session in turn. Should a later version of the session not ask
    /// any more, nothing is worse than without this class.
    final class PacedSession: URLSession, @unchecked Sendable {
        /// The most operations that may wait: 8 MiB of pieces of the usual size.
        private static let longestQueue = 512
        private static let longestWait = DispatchTimeInterval.milliseconds(50)

        override var delegateQueue: OperationQueue {
            let queue = super.delegateQueue
            if queue.operationCount > Self.longestQueue {
                let isWorkedOff = DispatchSemaphore(value: 0)
                queue.addOperation { isWorkedOff.signal() }
                _ = isWorkedOff.wait(timeout: .now() + Self.longestWait)
            }
            return queue
        }
    }
#endif
