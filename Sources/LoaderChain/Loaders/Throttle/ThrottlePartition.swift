/// A part of a throttle's slots that is kept for certain requests.
///
/// ```swift
/// let throttle = Throttle(limit: 8, partitions: [ThrottlePartition("user", share: 0.75)])
/// request.throttlePartition = "user"
/// ```
///
/// Of these eight slots, six are reserved for the requests of the partition, also while it does not use them: a prefetch finds
/// at most two, and never takes a slot from the user. The price is that slots may be free while others wait. A partition that
/// `lends` its slots avoids that price: others may use them while none of its own requests wait. It gets them back one by one,
/// as tasks end, and ahead of every other request, whatever their priorities. Until then its requests wait.
///
/// Requests of a partition may use more than its share, if slots are left. All requests that name no partition, or one that
/// the throttle does not have, share what is left; they can count on nothing if the shares add up to all of the limit.
///
/// A share is of the limit as it is at the moment, adaptive or not, and is rounded down to whole slots.
public struct ThrottlePartition: Hashable, Sendable {
    /// The name, which requests give as their ``HTTPRequest/throttlePartition``.
    public var name: String
    /// The share of the throttle's limit, from 0 to 1; shares that add up to more than 1 are reduced in proportion.
    public var share: Double
    /// Whether others may use slots that the partition does not use.
    public var lends: Bool

    /// Makes a partition, which keeps its slots for itself by default.
    public init(_ name: String, share: Double, lends: Bool = false) {
        self.name = name
        self.share = share
        self.lends = lends
    }

    /// The share from 0 to 1; 0 if it is not a number.
    fileprivate var usableShare: Double { share.isNaN ? 0 : min(max(0, share), 1) }
}

/// The slots that each partition of a throttle is owed and those that it has; the first, without a name and a share, is for all others.
struct ThrottleShares {
    private struct Partition {
        let share: Double
        let lends: Bool
        var running: UInt = 0
        var own: UInt = 0

        /// How many slots no other partition may use now.
        var kept: UInt { lends || running >= own ? 0 : own - running }
    }

    private var partitions = [Partition(share: 0, lends: true)]
    private let indices: [String: Int]
    /// Whether there is only the partition of all others.
    let isWhole: Bool
    /// How many slots all partitions keep now.
    private var kept: UInt = 0

    /// Makes shares that no task has used; of two partitions with one name, the first counts.
    init(_ settings: [ThrottlePartition] = [], slots: UInt = .max) {
        var indices: [String: Int] = [:]
        let sum = settings.reduce(0) { $0 + $1.usableShare }
        for setting in settings where indices[setting.name] == nil {
            indices[setting.name] = partitions.count
            partitions.append(Partition(share: setting.usableShare / max(1, sum), lends: setting.lends))
        }
        self.indices = indices
        isWhole = indices.isEmpty
        setSlots(slots)
    }

    /// How many partitions there are, with that of all others.
    var count: Int { partitions.count }

    func index(of name: String?) -> Int { name.flatMap { indices[$0] } ?? 0 }

    /// The tasks of each named partition; `waiting` returns the number of waiters of a partition.
    func snapshot(waiting: (Int) -> Int) -> [String: Throttle.Snapshot.Counts] {
        indices.mapValues {
            Throttle.Snapshot.Counts(running: Int(clamping: partitions[$0].running), waiting: waiting($0))
        }
    }

    mutating func setSlots(_ slots: UInt) {
        for index in partitions.indices {
            // More than any client has under way, so there are always slots left.
            let isBounded = slots < UInt(UInt32.max)
            // All of a share is meant, although 0.29 * 100 is a bit less than 29.
            partitions[index].own = isBounded ? UInt(Double(slots) * partitions[index].share + 1e-6) : 0
        }
        kept = partitions.reduce(0) { $0 + $1.kept }
    }

    /// Whether a partition has less than its share.
    func isOwed(_ partition: Int) -> Bool { partitions[partition].running < partitions[partition].own }

    /// Whether a partition may take a slot if `free` are left, without touching what the others keep.
    func mayStart(_ partition: Int, free: UInt) -> Bool {
        let ownKept = partitions[partition].kept
        return ownKept > 0 ? free > 0 : free > kept
    }

    mutating func start(_ partition: Int) { change(partition) { $0.running += 1 } }

    mutating func finish(_ partition: Int) { change(partition) { $0.running -= 1 } }

    private mutating func change(_ partition: Int, _ change: (inout Partition) -> Void) {
        kept -= partitions[partition].kept
        change(&partitions[partition])
        kept += partitions[partition].kept
    }
}
