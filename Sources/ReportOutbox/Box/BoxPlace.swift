import DurableFiles

/// Where a box is, and its lock.
struct BoxPlace {
    let files: any Directory
    /// The lock, for as long as it is held.
    let ownership: any Sendable

    /// How many processes can have boxes of their own in one directory.
    private static let mostOwnBoxes = 64

    /// Takes a directory, or a box of one's own within it; nil if it is in use.
    static func take(
        in files: any Directory, whenInUse: OutboxSettings.WhenInUse
    ) throws(FileFailure) -> BoxPlace? {
        if let lock = try files.lock(ReportStore.lockName) { return BoxPlace(files: files, ownership: lock) }
        guard whenInUse == .ownBox else { return nil }
        for number in 1...mostOwnBoxes {
            let folder = StoreScan.ownBoxPrefix + String(number)
            try files.makeFolder(folder)
            let own = try files.folder(folder)
            if let lock = try own.lock(ReportStore.lockName) { return BoxPlace(files: own, ownership: lock) }
        }
        return nil
    }
}
