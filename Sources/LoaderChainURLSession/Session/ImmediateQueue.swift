#if canImport(FoundationNetworking)
    import Foundation
    import LoaderChain

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A delegate queue that runs each operation at once, on the session's own queue.
    ///
    /// A session on Linux cannot pause a transfer: it enqueues each piece and goes on reading, and pieces that its delegate
    /// has not handled yet pile up in memory. With this queue the session waits for its delegate, which writes the piece
    /// and returns. Nothing piles up, and no thread is woken.
    ///
    /// In return, the delegate must never wait for the session, nor call a user's code; see ``isRunning``. If a later
    /// version of the session uses its queue differently, this is still a valid serial queue.
    final class ImmediateQueue: OperationQueue, @unchecked Sendable {
        override init() {
            super.init()
            maxConcurrentOperationCount = 1
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            let outer = pthread_getspecific(Self.key)
            pthread_setspecific(Self.key, UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()))
            block()
            pthread_setspecific(Self.key, outer)
        }

        /// Whether this thread is running a callback of the session, so that waiting for the session would deadlock.
        static var isRunning: Bool { pthread_getspecific(key) != nil }

        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()
    }
#endif
