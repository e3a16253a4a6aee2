import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock of one byte that lives inside the object it protects, with room for two flags that can be read without it.
///
/// A task is locked for a few nanoseconds at a time, and by two threads at once only when a cancel meets a completion.
/// A lock of the platform's would cost every task an allocation of its own, so this one waits by yielding the processor
/// and, should the owner not get to run even so, by sleeping for a moment.
///
/// State that is locked for longer, or by many, belongs behind ``Guarded``.
struct TinyLock: ~Copyable {
    /// What can be known of the protected state without taking the lock.
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let first = Flags(rawValue: 0b010)
        static let second = Flags(rawValue: 0b100)
    }

    private static let locked: UInt8 = 0b001
    private let word = Atomic<UInt8>(0)

    /// The flags as they are now; each is only ever added.
    @inline(__always)
    var flags: Flags { Flags(rawValue: word.load(ordering: .acquiring) & ~Self.locked) }

    /// Takes the lock and answers the flags that it held.
    @inline(__always)
    borrowing func acquire() -> Flags {
        let expected = word.load(ordering: .relaxed) & ~Self.locked
        if word.weakCompareExchange(
            expected: expected, desired: expected | Self.locked, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged {
            return Flags(rawValue: expected)
        }
        return acquireSlowly()
    }

    /// Lets go of the lock and makes `flags` known.
    @inline(__always)
    borrowing func release(_ flags: Flags) {
        word.store(flags.rawValue, ordering: .releasing)
    }

    @inline(never)
    private borrowing func acquireSlowly() -> Flags {
        let triesBeforeSleeping = 200
        let pause = 50_000
        var tries = 0
        while true {
            let expected = word.load(ordering: .relaxed) & ~Self.locked
            if word.compareExchange(
                expected: expected, desired: expected | Self.locked,
                successOrdering: .acquiring, failureOrdering: .relaxed
            ).exchanged {
                return Flags(rawValue: expected)
            }
            tries += 1
            if tries < triesBeforeSleeping {
                sched_yield()
            } else {
                // The owner may be a thread that a stricter scheduler does not let run while this one only yields.
                var time = timespec(tv_sec: 0, tv_nsec: pause)
                nanosleep(&time, nil)
            }
        }
    }
}
