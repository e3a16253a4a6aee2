/// The reports that were set aside, oldest first, and how many bytes they have.
struct Quarantine {
    private(set) var reports: [AsideName] = []
    private(set) var bytes: Int64 = 0

    mutating func add(_ aside: AsideName) {
        reports.append(aside)
        bytes = bytes.addingClamped(aside.name.size)
    }

    mutating func remove(_ id: ReportID) -> AsideName? {
        guard let index = reports.firstIndex(where: { $0.name.id == id }) else { return nil }
        bytes -= reports[index].name.size
        return reports.remove(at: index)
    }

    /// Takes out the oldest, as many as there are too many.
    mutating func trim(count: Int, bytes most: Int64) -> [AsideName] {
        var trimmed: [AsideName] = []
        for aside in reports {
            guard reports.count - trimmed.count > max(0, count) || bytes > most else { break }
            trimmed.append(aside)
            bytes -= aside.name.size
        }
        reports.removeFirst(trimmed.count)
        return trimmed
    }
}
