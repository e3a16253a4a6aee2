#if canImport(Darwin)
    import Darwin
    private typealias PlatformLock = os_unfair_lock_s
#elseif canImport(Glibc)
    import Glibc
    private typealias PlatformLock = pthread_mutex_t
#elseif canImport(Musl)
    import Musl
    private typealias PlatformLock = pthread_mutex_t
#endif

/// A value behind a lock, for state that threads share.
///
/// The lock is the platform's own: an unfair lock on Apple systems, a pthread mutex elsewhere. It is not the standard
/// library's `Mutex`, because on Linux that one hands itself over through the kernel and slows down a thousandfold once
/// threads outnumber cores.
///
/// The closure given to ``withLock(_:)`` decides and returns. It calls no user code, and does not release the last
/// reference to a user's object; both happen after it has returned.
package struct Locked<Value>: @unchecked Sendable {
    private let storage: ManagedBuffer<Value, PlatformLock>

    /// Puts `value` behind a new lock.
    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements(open)
            return value
        }
    }

    /// Runs `body` with exclusive access to the value.
    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { (value, lock) throws(Failure) in
            acquire(lock)
            defer { release(lock) }
            return try body(&value.pointee)
        }
    }

    private final class Storage: ManagedBuffer<Value, PlatformLock> {
        deinit { withUnsafeMutablePointerToElements(close) }
    }
}

private typealias LockPointer = UnsafeMutablePointer<PlatformLock>

#if canImport(Darwin)
    private func open(_ lock: LockPointer) { lock.initialize(to: os_unfair_lock_s()) }
    private func acquire(_ lock: LockPointer) { os_unfair_lock_lock(lock) }
    private func release(_ lock: LockPointer) { os_unfair_lock_unlock(lock) }
    private func close(_ lock: LockPointer) {}
#else
    private func open(_ lock: LockPointer) {
        lock.initialize(to: PlatformLock())
        pthread_mutex_init(lock, nil)
    }
    private func acquire(_ lock: LockPointer) { pthread_mutex_lock(lock) }
    private func release(_ lock: LockPointer) { pthread_mutex_unlock(lock) }
    private func close(_ lock: LockPointer) { pthread_mutex_destroy(lock) }
#endif

extension Locked: CustomReflectable {
    /// Empty: a dump does not take the lock.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
