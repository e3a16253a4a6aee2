#if canImport(FoundationNetworking)
    import Foundation
    import LoaderChain

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A delegate's queue that runs what it is given at once, on the queue on which the session works.
    ///
    /// A session on Linux cannot pause a transfer: it hands each piece over and goes on reading, and what its delegate has
    /// not taken piles up in memory. Here it waits for its delegate, which writes a piece and returns, so that nothing
    /// piles up and no thread is woken for it.
    ///
    /// In return the delegate never waits for the session and calls nothing of a user's; see ``isRunning``. Should a later
    /// version of the session use its queue in another way, it finds one that runs one operation after the other.
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

        /// Whether this thread is the session's at the moment, so that a call that waits for the session would never end.
        static var isRunning: Bool { pthread_getspecific(key) != nil }

        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()
    }
#endif
