import LineProtocol

/// Lines that are held and sent together: a block, or the undelivered lines of a batch.
struct Parcel: Sendable {
    /// The position in the order of all parcels, which stays the same for every attempt.
    var number: UInt64
    var points = 0
    var bytes = 0
    /// The part of the writer's maximum size that the parcel uses; it can exceed the size of the lines.
    var footprint = 0
    /// The unit of the timestamps; parcels of an earlier launch can have another unit.
    var precision = Precision.nanoseconds
    /// Whether it has been sent before; then it is sent again unchanged.
    var wasTried = false
    /// The lines; nil while they are being collected, and when they are only in their file, which is read before sending.
    var block: LineBlock?

    // For a writer with a directory.
    /// The open file, while lines are being collected.
    var journal: BlockJournal?
    /// The files that store the lines until all of them are settled.
    var files: [BlockFile] = []
    /// The number of lines that are being written to the file; the parcel is not sent before they are written.
    var writing = 0
    /// The lines that are in no file.
    var unsaved = LineSet()

    /// Whether the lines can be removed from memory, because their file has all of them.
    var isSaved: Bool { files.count == 1 && writing == 0 && unsaved.isEmpty && !wasTried }

    mutating func wrote(_ line: Int, failed: Bool) {
        writing -= 1
        if failed { unsaved = unsaved.union(LineSet(line..<line + 1)) }
    }
}

/// Parcels in the order of their numbers, oldest first.
struct ParcelQueue {
    struct Total {
        var points = 0
        var bytes = 0
        var footprint = 0
        /// The bytes in memory, without parcels that were sent before.
        ///
        /// Those are few: they come first in the queue, so with the batches in flight they are at most as many as may be in flight.
        var memory = 0
        /// The part of `memory` that could be freed, because files have these lines.
        var savedMemory = 0
        /// The number of parcels that have lines in no file.
        var unsaved = 0

        mutating func count(_ parcel: Parcel, times: Int = 1) {
            points += parcel.points * times
            bytes += parcel.bytes * times
            footprint += parcel.footprint * times
            if !parcel.unsaved.isEmpty { unsaved += times }
            guard let block = parcel.block, !parcel.wasTried else { return }
            let inMemory = (block.count + BatchingLimits.overhead) * times
            memory += inMemory
            if parcel.isSaved { savedMemory += inMemory }
        }
    }

    private var parcels: [Parcel] = []
    /// The number of removed parcels at the front of the array; the array is compacted rarely, so that removing the first is cheap.
    private var gone = 0
    private(set) var total = Total()

    var first: Parcel? { gone < parcels.count ? parcels[gone] : nil }
    var all: ArraySlice<Parcel> { parcels[gone...] }

    /// Inserts a parcel at the position of its number, which is mostly the end.
    mutating func insert(_ parcel: Parcel) {
        var place = parcels.count
        while place > gone, parcels[place - 1].number > parcel.number { place -= 1 }
        parcels.insert(parcel, at: place)
        total.count(parcel)
    }

    /// Changes a parcel, and returns whether it is still in the queue.
    @discardableResult
    mutating func change(_ number: UInt64, _ change: (inout Parcel) -> Void) -> Bool {
        var (low, high) = (gone, parcels.count)
        while low < high {
            let middle = (low + high) / 2
            if parcels[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < parcels.count, parcels[low].number == number else { return false }
        total.count(parcels[low], times: -1)
        change(&parcels[low])
        total.count(parcels[low])
        return true
    }

    mutating func popFirst() -> Parcel? {
        guard let parcel = first else { return nil }
        // A removed parcel must not keep its memory until the array is compacted.
        parcels[gone].block = nil
        gone += 1
        total.count(parcel, times: -1)
        // Compacting when half is removed takes constant time per parcel.
        if gone * 2 >= parcels.count {
            parcels.removeFirst(gone)
            gone = 0
        }
        return parcel
    }
}
