import CLockFence
import LoaderChainPlatformC
import Synchronization

#if canImport(Darwin)
    private typealias PlatformLock = os_unfair_lock_s
#else
    private typealias PlatformLock = pthread_mutex_t
#endif

/// A value behind a lock, for state that threads share.
///
/// The lock is the platform's own: an unfair lock on Apple systems, a pthread mutex elsewhere. The standard library's `Mutex`
/// on Linux hands itself over through the kernel and slows down a thousandfold once threads outnumber cores.
///
/// The closure given to ``withLock(_:)`` decides and returns. It calls no user code, and does not release the last
/// reference to a user's object; both happen after it has returned.
package struct Locked<Value>: @unchecked Sendable {
    private let storage: ManagedBuffer<Value, PlatformLock>

    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements(open)
            return value
        }
    }

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

/// A value behind a lock, both stored inline, with flags that can be read without the lock.
///
/// Use it for state that exists once per task: a task is locked for a few nanoseconds at a time, and by two threads at once
/// only when a cancel meets a completion, so the lock should not cost an allocation. Put state that is locked for longer, or by
/// many threads, behind ``Locked``.
struct InPlaceLocked<Value: Sendable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let word: Atomic<UInt8>

    /// Facts about the value that can be read without taking the lock.
    struct Flags: OptionSet, Sendable {
        var rawValue: UInt8
    }

    @inline(__always)
    init(_ value: consuming Value, _ flags: Flags = []) {
        mutex = Mutex(value)
        word = Atomic(flags.rawValue)
    }

    /// The current flags; a flag is never removed.
    var flags: Flags { @inline(__always) get { Flags(rawValue: word.load(ordering: .acquiring)) } }

    /// Runs `body` with exclusive access to the value, and publishes the flags that it leaves.
    ///
    /// The body calls no user code, and releases nothing that may be the last reference to a user's object.
    @inline(__always)
    func withLock<Result: Sendable>(_ body: (inout Value, inout Flags) -> Result) -> Result {
        mutex.withLock { value in
            // This word makes the writes of the previous thread visible, also to a sanitizer that cannot see how the
            // standard library hands its lock from one waiting thread to the next.
            var flags = flags
            let result = body(&value, &flags)
            word.store(flags.rawValue, ordering: .releasing)
            // If an atomic store opens the lock, as on Linux, the optimizer sees that the store touches no reference. Without
            // this opaque call, it may retain what `body` returned only after the lock is open, when another thread may have
            // released it already.
            loaderchain_lock_fence()
            return result
        }
    }

    @inline(__always)
    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        withLock { value, _ in body(&value) }
    }
}

/// Replaces a value, and returns the old value: under a lock, this moves a user's object out, so that it ends after the unlock.
@inline(__always)
package func replace<Value>(_ value: inout Value, with newValue: consuming Value) -> Value {
    swap(&value, &newValue)
    return newValue
}

/// A right that only the first caller gets.
struct OneShot: Sendable {
    private let taken = Locked(false)

    /// True for the first call, false for all later ones.
    func take() -> Bool {
        taken.withLock { taken in
            defer { taken = true }
            return !taken
        }
    }
}

/// A number of things that have happened, counted by any thread.
package final class Tally: Sendable {
    private let number = Atomic(0)

    package init() {}

    package var count: Int { number.load(ordering: .relaxed) }

    package func increment() { number.wrappingAdd(1, ordering: .relaxed) }
}
