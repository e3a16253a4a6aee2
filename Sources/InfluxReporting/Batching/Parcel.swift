import LineProtocol

/// Lines that are held together and leave together: a block, or what is left of a batch that was tried.
struct Parcel: Sendable {
    /// Its place among all, which it keeps however often it is tried.
    var number: UInt64
    var points = 0
    /// How many bytes its lines have.
    var bytes = 0
    /// How much room it takes of what is bounded; it may be more than its lines need.
    var room = 0
    /// The unit of its timestamps; those of an earlier launch may have another.
    var precision = Precision.nanoseconds
    /// Whether it has been tried before, and is to be tried again as it is.
    var wasTried = false
    /// The lines; nil while they are being collected, and once they are in their file alone, to be read when their turn comes.
    var block: LineBlock?

    // Of a writer with a directory.
    /// The open file, while lines are being collected.
    var journal: BlockJournal?
    /// The files that hold the lines until all of them are settled.
    var files: [BlockFile] = []
    /// How many lines are on their way to the file, without which it does not leave.
    var writing = 0
    /// The lines that are in no file.
    var unsaved = LineSet()

    /// Whether its lines can be left to their file.
    var isSaved: Bool { files.count == 1 && writing == 0 && unsaved.isEmpty && !wasTried }

    mutating func wrote(_ line: Int, failed: Bool) {
        writing -= 1
        if failed { unsaved = unsaved.union(LineSet(line..<line + 1)) }
    }
}

/// Parcels in the order of their numbers, oldest first.
struct ParcelQueue {
    /// What all parcels come to.
    struct Total {
        var points = 0
        var bytes = 0
        var room = 0
        /// What they take up in memory, but for those that were tried, which are few.
        var memory = 0
        /// The part of that which could be left to files.
        var savedMemory = 0
        /// How many have lines that are in no file.
        var unsaved = 0

        mutating func count(_ parcel: Parcel, times: Int = 1) {
            points += parcel.points * times
            bytes += parcel.bytes * times
            room += parcel.room * times
            if !parcel.unsaved.isEmpty { unsaved += times }
            guard let block = parcel.block, !parcel.wasTried else { return }
            let inMemory = (block.count + BatchingLimits.overhead) * times
            memory += inMemory
            if parcel.isSaved { savedMemory += inMemory }
        }
    }

    private var parcels: [Parcel] = []
    /// How many of the first are gone already; they are removed together, so that taking one is cheap.
    private var gone = 0
    private(set) var total = Total()

    var first: Parcel? { gone < parcels.count ? parcels[gone] : nil }
    var all: ArraySlice<Parcel> { parcels[gone...] }

    /// Puts a parcel where its number belongs; most belong at the end.
    mutating func insert(_ parcel: Parcel) {
        var place = parcels.count
        while place > gone, parcels[place - 1].number > parcel.number { place -= 1 }
        parcels.insert(parcel, at: place)
        total.count(parcel)
    }

    /// Changes a parcel, and returns whether it is still there.
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
        // What is gone keeps no memory.
        parcels[gone].block = nil
        gone += 1
        total.count(parcel, times: -1)
        // Half keeps the moving cheap.
        if gone * 2 >= parcels.count {
            parcels.removeFirst(gone)
            gone = 0
        }
        return parcel
    }
}
