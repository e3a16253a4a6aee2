/// What waits for one sink, decided without threads or queues.
///
/// The phases:
/// - **idle**: nothing waits, and nobody delivers.
/// - **delivering**: somebody takes one batch after the other to the sink, until nothing waits any more.
///
/// Records are numbered as they come. One is settled when the sink has returned from it, or when it was dropped.
struct CourierState<Record, Waiter> {
    private let capacity: Int
    /// What waits: a ring once it is full, whose oldest is at `oldest`.
    private var waiting: [Record] = []
    private var oldest = 0
    private var isDelivering = false
    /// How many records have come.
    private var offered: UInt64 = 0
    private var waiters: [(waiter: Waiter, target: UInt64)] = []
    /// How many were dropped.
    private(set) var dropped = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Takes a record, in the place of the oldest where there is no more room.
    ///
    /// - Returns: whether somebody is to begin to deliver.
    mutating func offer(_ record: Record) -> Bool {
        offered += 1
        if waiting.count < capacity {
            waiting.append(record)
        } else {
            waiting[oldest] = record
            oldest = oldest + 1 == capacity ? 0 : oldest + 1
            dropped += 1
        }
        defer { isDelivering = true }
        return !isDelivering
    }

    /// What there is to do for whoever delivers.
    struct Round {
        /// The next records in order; if there are none, he is done.
        var batch: [Record]
        /// Who waited for the records before them.
        var flushed: [Waiter]
    }

    /// The batch before has been delivered: takes all that waits.
    mutating func next() -> Round {
        let settled = offered - UInt64(waiting.count)
        var flushed: [Waiter] = []
        while let first = waiters.first, first.target <= settled { flushed.append(waiters.removeFirst().waiter) }
        let ring = exchange(&waiting, with: [])
        let batch = oldest == 0 ? ring : Array(ring[oldest...] + ring[..<oldest])
        oldest = 0
        isDelivering = !batch.isEmpty
        return Round(batch: batch, flushed: flushed)
    }

    /// Somebody waits until all records are settled that have come by now.
    ///
    /// - Returns: whether they are already; otherwise `waiter` is handed out when they are.
    mutating func flush(_ waiter: Waiter) -> Bool {
        guard isDelivering else { return true }
        waiters.append((waiter, offered))
        return false
    }
}
