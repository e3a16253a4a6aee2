#if canImport(FoundationNetworking)
    import Foundation

    /// A delegate queue that runs each operation at once, on the session's own queue.
    ///
    /// A session on Linux cannot pause a transfer: it enqueues each piece and goes on reading, and pieces that its delegate
    /// has not handled yet pile up in memory. With this queue the session waits for its delegate, which writes the piece
    /// and returns. Nothing piles up, and no thread is woken.
    ///
    /// In return, the delegate must never wait for the session, nor call a user's code. If a later version of the session uses
    /// its queue differently, this is still a valid serial queue.
    final class ImmediateQueue: OperationQueue, @unchecked Sendable {
        override init() {
            super.init()
            maxConcurrentOperationCount = 1
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif
