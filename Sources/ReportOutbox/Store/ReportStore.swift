// Store: the files of a box, their names and their form. It may use Coding, Reports and Settings.

import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The files of a box.
///
///     lock                     held by the box that is open
///     tmp-…                    a report that is being written; swept when a box opens
///     <name>.report            a report
///     aside/<name>.report!why  a report that was set aside
///     discarded                counts of reports that never arrived, for their servers
///     own-1/ …                 boxes of other processes, of the same form
///
/// It makes no decisions, and keeps no state in memory.
struct ReportStore: Sendable {
    static let asideFolder = "aside"
    fileprivate static let discardsName = "discarded"

    let files: any Directory
    let durability: OutboxSettings.Durability
    let seal: (any ReportSeal)?

    /// Writes a report under a temporary name; nothing is left of it if that fails.
    ///
    /// - Returns: how many bytes it has.
    func write(
        _ head: RecordHead, _ content: HTTPBodyContent, as temporary: String, limit: Int64
    ) throws(OutboxError) -> Int64 {
        try writing(temporary) { file throws(OutboxError) in
            var writer = try RecordWriter(head, to: file, seal: seal)
            var reader = content.makeReader()
            while let piece = try Self.next(&reader) {
                guard writer.length + Int64(piece.count) <= limit else { throw Self.tooLarge(limit) }
                try writer.append(piece)
            }
            try writer.finish()
            return writer.length
        }
    }

    /// Writes all of a report but its bytes, which are elsewhere.
    func write(_ head: RecordHead, length: Int64, as temporary: String) throws(OutboxError) {
        _ = try writing(temporary) { file throws(OutboxError) in
            var writer = try RecordWriter(head, to: file, seal: seal)
            try writer.finish(length: length)
            return length
        }
    }

    static func tooLarge(_ limit: Int64) -> OutboxError {
        OutboxError(
            .tooLarge, "The report has more than \(limit) bytes; raise the settings' maximumReportBytes, or send less.")
    }

    private static func next(_ reader: inout HTTPBodyReader) throws(OutboxError) -> Data? {
        do {
            return try reader.read(upTo: RecordForm.pieceLength)
        } catch let error as HTTPBodyError {
            throw OutboxError(.unreadable, "\(error)")
        } catch {
            throw OutboxError(.unreadable, "The report's bytes cannot be read (\(type(of: error))).")
        }
    }

    private func writing(
        _ temporary: String, _ write: (any DurableFile) throws(OutboxError) -> Int64
    ) throws(OutboxError) -> Int64 {
        do {
            let file = try doing { () throws(FileFailure) in try files.create(temporary) }
            let length = try write(file)
            try doing { () throws(FileFailure) in
                if durability == .fsync { try file.sync() }
                try file.close()
            }
            return length
        } catch {
            discard(temporary)
            throw error
        }
    }

    /// Removes what was written of a report; what cannot be removed is swept the next time.
    func discard(_ temporary: String) {
        try? files.remove(temporary)
    }

    /// Gives a report that is written its name: from here on it is in the box.
    func publish(_ temporary: String, as name: RecordName) throws(OutboxError) {
        let text = name.text
        do {
            try doing { () throws(FileFailure) in try files.rename(temporary, to: text) }
        } catch {
            discard(temporary)
            throw error
        }
        do {
            try doing { () throws(FileFailure) in try syncFolder() }
        } catch {
            // It cannot be promised, so it is taken back if possible.
            discard(text)
            throw error
        }
    }

    private func doing<Result>(_ action: () throws(FileFailure) -> Result) throws(OutboxError) -> Result {
        do throws(FileFailure) { return try action() } catch { throw OutboxError(error) }
    }

    private func syncFolder(_ folder: String = "") throws(FileFailure) {
        if durability == .fsync { try files.syncFolder(folder) }
    }

    // MARK: What becomes of a report

    /// Writes down a report's new state.
    func rename(_ name: RecordName, to newName: RecordName) throws(FileFailure) {
        if name != newName { try files.rename(name.text, to: newName.text) }
    }

    /// Puts a file that is written into the place of a report's.
    func replace(_ name: RecordName, by temporary: String) throws(FileFailure) {
        try files.rename(temporary, to: name.text)
        try syncFolder()
    }

    func remove(_ file: StoredFile) throws(FileFailure) {
        try files.remove(file.path)
        try syncFolder(file.folder)
    }

    /// Puts a report where it is kept for inspection.
    func setAside(_ aside: AsideName) throws(FileFailure) {
        try files.makeFolder(Self.asideFolder)
        try files.rename(aside.name.text, to: aside.path)
    }

    /// Makes sure that what was set aside, or taken back, is in one place after a loss of power, too.
    func syncMove(into folder: String) throws(FileFailure) {
        // First where it is now, so that it is never in neither.
        try syncFolder(folder)
        try syncFolder(folder.isEmpty ? Self.asideFolder : "")
    }

    /// Puts a report that was set aside back under a new name.
    func takeBack(_ aside: AsideName, as name: RecordName) throws(FileFailure) {
        try files.rename(aside.path, to: name.text)
    }

    /// Makes sure that what was found stays after a loss of power, too.
    func syncFound() throws(FileFailure) { try syncFolder() }

    // MARK: Counts of discarded reports

    /// Replaces the counts; without bytes, there are none.
    func writeDiscards(_ bytes: Data) throws(FileFailure) {
        guard !bytes.isEmpty else {
            do throws(FileFailure) { try files.remove(Self.discardsName) } catch { if !error.isMissing { throw error } }
            return
        }
        let temporary = RecordName.temporaryPrefix + Self.discardsName
        let file = try files.create(temporary)
        do throws(FileFailure) {
            try file.write(bytes, at: 0)
            // Before the name, which is on the disk as soon as that of any report is.
            if durability == .fsync { try file.sync() }
            try file.close()
            try files.rename(temporary, to: Self.discardsName)
        } catch {
            discard(temporary)
            throw error
        }
    }

    func readDiscards() throws(FileFailure) -> Data {
        try files.contents(of: Self.discardsName, upTo: Self.longestDiscards)
    }

    private static let longestDiscards = 64 << 10

    // MARK: Reading

    /// Opens a report and checks all of it.
    func read(_ path: String) throws(RecordProblem) -> (head: RecordHead, body: StoredBody) {
        let record = try reader(path)
        let body = StoredBody(
            files: files, path: path, range: record.body, length: record.length, id: record.head.id,
            seal: record.isSealed ? seal : nil)
        return (record.head, body)
    }

    /// Opens a report and checks its head alone.
    func readHead(_ path: String) throws(RecordProblem) -> RecordHead {
        try reader(path, checksBody: false).head
    }

    private func reader(_ path: String, checksBody: Bool = true) throws(RecordProblem) -> RecordReader {
        let file: any DurableFile
        do throws(FileFailure) { file = try files.open(path) } catch { throw RecordProblem(error) }
        return try RecordReader(file, seal: seal, checksBody: checksBody)
    }
}

/// Where the file of a report is, in the box or set aside.
struct StoredFile: Sendable {
    let path: String
    let folder: String

    init(_ name: RecordName) { (path, folder) = (name.text, "") }
    init(_ aside: AsideName) { (path, folder) = (aside.path, ReportStore.asideFolder) }
}

/// What a box's directory contains when it is opened.
struct StoreScan {
    /// The reports, in the order of their submission.
    var reports: [RecordName] = []
    /// Reports that were set aside, in the same order.
    var aside: [AsideName] = []
    var foreign = ForeignFiles()
    /// Boxes of other processes.
    var ownBoxes: [String] = []
    /// Whether there are counts of discarded reports.
    var hasDiscards = false
    /// What could not be swept.
    var troubles: [FileFailure] = []

    /// The folder of a box of another process.
    static func ownBox(_ number: Int) -> String { ownBoxPrefix + String(number) }

    private static let ownBoxPrefix = "own-"

    private static func isOwnBox(_ name: String) -> Bool {
        guard name.hasPrefix(ownBoxPrefix), let number = Int(name.dropFirst(ownBoxPrefix.count)) else { return false }
        return number > 0 && name == ownBox(number)
    }
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
            case .name: scan.foreign.note(text)
            case .foreign: scan.sort(text, in: files, sweeps: sweeps)
            }
        }
        scan.reports.sort { $0.sequence < $1.sequence }
        if names.contains(Self.asideFolder) { try scanAside(into: &scan) }
        return scan
    }

    private func scanAside(into scan: inout StoreScan) throws(FileFailure) {
        for text in try files.list(Self.asideFolder) {
            guard let (read, isDigested) = AsideName.read(text) else {
                scan.foreign.note(Self.asideFolder + "/" + text)
                continue
            }
            var aside = read
            if isDigested, let id = try? readHead(Self.asideFolder + "/" + text).id { aside.name.id = id }
            if aside.text == text {
                scan.aside.append(aside)
            } else {
                scan.foreign.note(Self.asideFolder + "/" + text)
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
            if name.text == text { scan.reports.append(name) } else { scan.foreign.note(text) }
        } catch {
            switch error {
            // Its identifier is not known. It stays, since a missing key may come back.
            case .damaged, .sealed: scan.foreign.note(text)
            case .missing(let failure), .failure(let failure): scan.troubles.append(failure)
            }
        }
    }
}

extension StoreScan {
    fileprivate mutating func sort(_ text: String, in files: any Directory, sweeps: Bool) {
        if text == FileFailure.lockName || text == ReportStore.asideFolder { return }
        if text == ReportStore.discardsName {
            hasDiscards = true
            return
        }
        do throws(FileFailure) {
            if Self.isOwnBox(text), try files.isFolder(text) {
                ownBoxes.append(text)
            } else if text.hasPrefix(RecordName.temporaryPrefix) {
                if sweeps { try files.remove(text) }
            } else {
                foreign.note(text)
            }
        } catch {
            troubles.append(error)
        }
    }
}
