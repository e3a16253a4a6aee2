import LoaderChainPlatformFoundation
import Synchronization

/// Numbers the tasks of a process, and makes a UUID of a number.
///
/// A random UUID costs more than a whole task should. These are made of 60 random bits per process and a counter, so
/// that a task only counts, and the UUID is made when it is read. They have version 8, which the standard leaves to
/// such schemes.
enum TaskIdentity {
    private static let counter = Atomic<UInt64>(0)
    private static let process = UUID()

    static func next() -> UInt64 {
        counter.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    /// The number of the task that is made next; tasks that exist have lower ones.
    static var following: UInt64 { counter.load(ordering: .relaxed) }

    static func uuid(_ number: UInt64) -> UUID {
        var bytes = process.uuid
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes[6] = 0x80 | (bytes[6] & 0x0F)
            // The last 62 bits are the number, combined with bits of the process, so that two processes have different
            // ids.
            var tail = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            tail ^= number
            tail = (tail & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
            bytes.storeBytes(of: tail.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}
