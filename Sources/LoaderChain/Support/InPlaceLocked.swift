import CLockFence
import Synchronization

/// A value behind a lock, both stored inline, with flags that can be read without the lock.
///
/// It is for state that exists once per task: a task is locked for a few nanoseconds at a time, and by two threads at
/// once only when a cancel meets a completion, so the lock should not cost an allocation. Put state that is locked for
/// longer, or by many threads, behind ``Locked``.
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
            // Where an atomic store opens the lock, as on Linux, the optimizer sees that the store touches no
            // reference. Without this opaque call, it may retain what `body` returned only after the lock is open, when
            // another thread may have released it already.
            loaderchain_lock_fence()
            return result
        }
    }

    /// Runs `body` with exclusive access to the value.
    @inline(__always)
    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        withLock { value, _ in body(&value) }
    }
}
