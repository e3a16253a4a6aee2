import DurableFiles

/// What a box's directory contains when it is opened.
struct StoreScan {
    /// The reports, in the order of their submission.
    var reports: [RecordName] = []
    /// Reports that were set aside, in the same order.
    var aside: [AsideName] = []
    /// Names of files that are not the box's.
    var foreign: [String] = []
    var foreignCount = 0
    /// Boxes of other processes.
    var ownBoxes: [String] = []
    /// Whether there are counts of discarded reports.
    var hasDiscards = false
    /// What could not be swept.
    var troubles: [FileFailure] = []

    static let mostForeignNames = 20
    static let ownBoxPrefix = "own-"
}

extension ReportStore {
    /// Looks through the directory, and sweeps what is left of reports that were never whole.
    ///
    /// Sweeping needs the lock, so a temporary file that it finds is not in use.
    func scan(sweeps: Bool = true) throws(FileFailure) -> StoreScan {
        var scan = StoreScan()
        let names = try files.list("")
        scan.reports.reserveCapacity(names.count)
        for text in names {
            switch RecordName.read(text) {
            // One that is spelled otherwise than the box would could not be found again.
            case .name(let name) where name.text == text: scan.reports.append(name)
            case .digested(let name): sort(name, at: text, into: &scan)
            case .name: scan.note(foreign: text)
            case .foreign: scan.sort(text, sweepingIn: sweeps ? files : nil)
            }
        }
        scan.reports.sort { $0.sequence < $1.sequence }
        if names.contains(Self.asideFolder) { try scanAside(into: &scan) }
        return scan
    }

    private func scanAside(into scan: inout StoreScan) throws(FileFailure) {
        for text in try files.list(Self.asideFolder) {
            guard let (read, isDigested) = AsideName.read(text) else {
                scan.note(foreign: Self.asideFolder + "/" + text)
                continue
            }
            var aside = read
            if isDigested, let id = try? readHead(Self.asideFolder + "/" + text).id { aside.name.id = id }
            if aside.text == text {
                scan.aside.append(aside)
            } else {
                scan.note(foreign: Self.asideFolder + "/" + text)
            }
        }
        scan.aside.sort { $0.name.sequence < $1.name.sequence }
    }

    /// Finds out the identifier of a report whose name has only a digest of it.
    private func sort(_ name: RecordName, at text: String, into scan: inout StoreScan) {
        var name = name
        do throws(RecordProblem) {
            name.id = try readHead(text).id
            // A name that is not the one this report would have was made by another program.
            if name.text == text { scan.reports.append(name) } else { scan.note(foreign: text) }
        } catch {
            switch error {
            // Its identifier is not known. It stays, since a missing key may come back.
            case .damaged, .sealed: scan.note(foreign: text)
            case .missing(let failure), .failure(let failure): scan.troubles.append(failure)
            }
        }
    }
}

extension StoreScan {
    fileprivate mutating func sort(_ text: String, sweepingIn files: (any Directory)?) {
        if text == ReportStore.lockName || text == ReportStore.asideFolder { return }
        if text == ReportStore.discardsName {
            hasDiscards = true
            return
        }
        if text.hasPrefix(Self.ownBoxPrefix) {
            ownBoxes.append(text)
            return
        }
        guard text.hasPrefix(RecordName.temporaryPrefix) else { return note(foreign: text) }
        do throws(FileFailure) { try files?.remove(text) } catch { troubles.append(error) }
    }

    fileprivate mutating func note(foreign text: String) {
        foreignCount += 1
        if foreign.count < Self.mostForeignNames { foreign.append(text) }
    }
}
