import LineProtocol

/// Lines that are held together and leave together: of one block, of several, or what is left of a batch that was tried.
struct Parcel<Content: Sendable>: Sendable {
    /// Its place among all, which it keeps however often it is tried.
    var number: UInt64
    var points: Int
    /// How many bytes its lines have.
    let bytes: Int
    /// How much room it takes of what is bounded; it may be more than its lines need.
    var room: Int
    /// The unit of its timestamps; those of an earlier launch may have another.
    var precision = Precision.nanoseconds
    /// Whether it has been tried before, and is to be tried again as it is.
    var wasTried = false
    var content: Content
}

/// Parcels in the order of their numbers, oldest first.
struct ParcelQueue<Content: Sendable> {
    private var parcels: [Parcel<Content>] = []
    /// How many of the first are gone already; they are removed together, so that taking one is cheap.
    private var gone = 0
    private(set) var points = 0
    private(set) var bytes = 0
    private(set) var room = 0

    var first: Parcel<Content>? { gone < parcels.count ? parcels[gone] : nil }
    var all: ArraySlice<Parcel<Content>> { parcels[gone...] }

    /// Puts a parcel where its number belongs; most belong at the end.
    mutating func insert(_ parcel: Parcel<Content>) {
        var place = parcels.count
        while place > gone, parcels[place - 1].number > parcel.number { place -= 1 }
        parcels.insert(parcel, at: place)
        points += parcel.points
        bytes += parcel.bytes
        room += parcel.room
    }

    /// Changes a parcel, unless it has left.
    mutating func change(_ number: UInt64, _ change: (inout Parcel<Content>) -> Void) {
        var (low, high) = (gone, parcels.count)
        while low < high {
            let middle = (low + high) / 2
            if parcels[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < parcels.count, parcels[low].number == number else { return }
        room -= parcels[low].room
        change(&parcels[low])
        room += parcels[low].room
    }

    mutating func popFirst() -> Parcel<Content>? {
        guard let parcel = first else { return nil }
        gone += 1
        points -= parcel.points
        bytes -= parcel.bytes
        room -= parcel.room
        // What is gone still holds its content, so not too much of it stays; half keeps the moving cheap.
        if gone * 2 >= parcels.count {
            parcels.removeFirst(gone)
            gone = 0
        }
        return parcel
    }
}

/// Lines that wait, in the form in which they came.
enum HeldLines: Sendable {
    /// A block that was filled in this life.
    case block(LineBlock)
    /// A block that is in its file alone, to be read when its turn comes.
    case stored(BlockFile)
    /// What is left of a batch that was tried, the files that hold it until all of it is settled, and the lines that are in none.
    case batch(LineBatch, files: [BlockFile], unsaved: LineSet)

    /// The files that hold the lines.
    var files: [BlockFile] {
        switch self {
        case .block(let block): block.file.map { [$0] } ?? []
        case .stored(let file): [file]
        case .batch(_, let files, _): files
        }
    }

    /// Whether all of the lines are in files.
    var isSaved: Bool {
        switch self {
        case .block(let block): block.isSaved
        case .stored: true
        case .batch(_, _, let unsaved): unsaved.isEmpty
        }
    }

    /// The lines that are in no file.
    var unsavedLines: LineSet {
        switch self {
        case .block(let block): block.unsavedLines
        case .stored: LineSet()
        case .batch(_, _, let unsaved): unsaved
        }
    }
}
