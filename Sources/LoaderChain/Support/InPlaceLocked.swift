import CLockFence
import Synchronization

/// A value behind a lock, both inside the object that holds them, with room for flags that can be read without the lock.
///
/// It is for what exists once per task: a task is locked for a few nanoseconds at a time, and by two threads at once only
/// when a cancel meets a completion, so it should not cost an allocation. State that is locked for longer, or by many,
/// belongs behind ``Guarded``.
struct InPlaceLocked<Value: Sendable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    private let word: Atomic<UInt8>

    /// What can be known of the value without taking the lock.
    struct Flags: OptionSet, Sendable {
        var rawValue: UInt8
    }

    @inline(__always)
    init(_ value: consuming Value, _ flags: Flags = []) {
        mutex = Mutex(value)
        word = Atomic(flags.rawValue)
    }

    /// The flags as they are now; each is only ever added.
    var flags: Flags {
        @inline(__always) get { Flags(rawValue: word.load(ordering: .acquiring)) }
    }

    /// Runs `body` alone with the value, and makes the flags known that it leaves behind.
    ///
    /// The body calls nothing that a user wrote, and lets go of nothing that may be a user's last reference.
    @inline(__always)
    func withLock<Result: Sendable>(_ body: (inout Value, inout Flags) -> Result) -> Result {
        mutex.withLock { value in
            // What the thread before has written is known by this word, also to a sanitizer that cannot see how the standard
            // library hands its lock from one waiting thread to the next.
            var flags = flags
            let result = body(&value, &flags)
            word.store(flags.rawValue, ordering: .releasing)
            // Where the lock is opened by an atomic store, as on Linux, the optimizer sees that this touches no reference.
            // Without the call, which it cannot look into, it may retain what `body` returned only after the lock is open,
            // when another thread has released it already.
            loaderchain_lock_fence()
            return result
        }
    }

    /// Runs `body` alone with the value.
    @inline(__always)
    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        withLock { value, _ in body(&value) }
    }
}
