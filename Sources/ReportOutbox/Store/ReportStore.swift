// Store: the files of an outbox, their names and their format. It may use Coding, Reports and Settings.

import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The files of an outbox.
///
///     lock                     held by the open outbox
///     tmp-…                    a report that is being written; removed when an outbox opens
///     <name>.report            a report
///     aside/<name>.report!why  a dead letter
///     discarded                counts of lost reports, for their servers
///
/// It makes no decisions, and holds no state in memory.
struct ReportStore: Sendable {
    static let deadLetterFolder = "aside"
    fileprivate static let discardsName = "discarded"

    let files: any Directory
    let durability: OutboxSettings.Durability
    let seal: (any ReportSeal)?

    /// Writes a report under a temporary name, and returns its number of bytes; on failure, the file is removed.
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

    /// Writes a report without its bytes, which are in another file.
    func write(_ head: RecordHead, length: Int64, as temporary: String) throws(OutboxError) {
        _ = try writing(temporary) { file throws(OutboxError) in
            var writer = try RecordWriter(head, to: file, seal: seal)
            try writer.finish(length: length)
            return length
        }
    }

    static func tooLarge(_ limit: Int64) -> OutboxError {
        OutboxError(
            .tooLarge,
            "The report has more than \(limit) bytes; raise the settings' maximumReportBytes, or submit a smaller report."
        )
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

    /// Removes a partially written report; if that fails, it is removed when an outbox opens.
    func discard(_ temporary: String) {
        try? files.remove(temporary)
    }

    /// Gives a written report its name; from here on, it is in the outbox.
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
            // The report is not safe, so it is removed if possible.
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

    // MARK: Changing a report

    /// Saves a report's new state.
    func rename(_ name: RecordName, to newName: RecordName) throws(FileFailure) {
        if name != newName { try files.rename(name.text, to: newName.text) }
    }

    func replace(_ name: RecordName, by temporary: String) throws(FileFailure) {
        try files.rename(temporary, to: name.text)
        try syncFolder()
    }

    func remove(_ file: StoredFile) throws(FileFailure) {
        try files.remove(file.path)
        try syncFolder(file.folder)
    }

    func moveToDeadLetters(_ deadLetter: DeadLetterName) throws(FileFailure) {
        try files.makeFolder(Self.deadLetterFolder)
        try files.rename(deadLetter.name.text, to: deadLetter.path)
    }

    /// Makes sure that a report that was moved to or from the dead letters survives a power failure, in one place.
    func syncMove(into folder: String) throws(FileFailure) {
        // The new folder first, so that the report is always in at least one of them.
        try syncFolder(folder)
        try syncFolder(folder.isEmpty ? Self.deadLetterFolder : "")
    }

    func restore(_ deadLetter: DeadLetterName, as name: RecordName) throws(FileFailure) {
        try files.rename(deadLetter.path, to: name.text)
    }

    /// Makes sure that the reports that were found survive a power failure.
    func syncFound() throws(FileFailure) { try syncFolder() }

    // MARK: Counts of lost reports

    /// Replaces the saved counts; empty bytes remove them.
    func writeDiscards(_ bytes: Data) throws(FileFailure) {
        guard !bytes.isEmpty else { return try files.remove(Self.discardsName) }
        let temporary = RecordName.temporaryPrefix + Self.discardsName
        let file = try files.create(temporary)
        do throws(FileFailure) {
            try file.write(bytes, at: 0)
            // Before renaming, since the next sync of the folder makes the new name durable.
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

    /// Opens a report and verifies all of it.
    func read(_ path: String) throws(RecordProblem) -> (head: RecordHead, body: StoredBody) {
        let record = try reader(path)
        let body = StoredBody(
            files: files, path: path, range: record.body, length: record.length, id: record.head.id,
            seal: record.isSealed ? seal : nil, stamp: record.stamp)
        return (record.head, body)
    }

    /// Opens a report and verifies only its head.
    func readHead(_ path: String) throws(RecordProblem) -> RecordHead {
        try reader(path, checksBody: false).head
    }

    private func reader(_ path: String, checksBody: Bool = true) throws(RecordProblem) -> RecordReader {
        let file: any DurableFile
        do throws(FileFailure) { file = try files.open(path) } catch { throw RecordProblem(error) }
        return try RecordReader(file, seal: seal, checksBody: checksBody)
    }
}

/// The path of a report's file, in the outbox or among the dead letters.
struct StoredFile: Sendable {
    let path: String
    let folder: String

    init(_ name: RecordName) { (path, folder) = (name.text, "") }
    init(_ deadLetter: DeadLetterName) { (path, folder) = (deadLetter.path, ReportStore.deadLetterFolder) }
}

/// The contents of an outbox's directory when it is opened.
struct StoreScan {
    /// The reports, in the order of submission.
    var reports: [RecordName] = []
    /// The dead letters, in the same order.
    var deadLetters: [DeadLetterName] = []
    var foreign = ForeignFiles()
    var hasDiscards = false
    /// The errors of files that could not be removed or read.
    var troubles: [FileFailure] = []
}

extension ReportStore {
    /// Lists the directory, and removes partially written reports.
    ///
    /// The caller holds the lock if `sweeps` is true, so the temporary files that it finds are not in use.
    func scan(sweeps: Bool = true) throws(FileFailure) -> StoreScan {
        var scan = StoreScan()
        let names = try files.list("")
        scan.reports.reserveCapacity(names.count)
        for text in names {
            switch RecordName.read(text) {
            // A name that the outbox would spell differently could not be found again.
            case .name(let name) where name.text == text: scan.reports.append(name)
            case .digested(let name): sort(name, at: text, into: &scan)
            case .name: scan.foreign.note(text)
            case .foreign: scan.sort(text, in: files, sweeps: sweeps)
            }
        }
        scan.reports.sort { $0.sequence < $1.sequence }
        if names.contains(Self.deadLetterFolder) { try scanDeadLetters(into: &scan) }
        return scan
    }

    private func scanDeadLetters(into scan: inout StoreScan) throws(FileFailure) {
        for text in try files.list(Self.deadLetterFolder) {
            guard let (read, isDigested) = DeadLetterName.read(text) else {
                scan.foreign.note(Self.deadLetterFolder + "/" + text)
                continue
            }
            var deadLetter = read
            if isDigested, let id = try? readHead(Self.deadLetterFolder + "/" + text).id { deadLetter.name.id = id }
            if deadLetter.text == text {
                scan.deadLetters.append(deadLetter)
            } else {
                scan.foreign.note(Self.deadLetterFolder + "/" + text)
            }
        }
        scan.deadLetters.sort { $0.name.sequence < $1.name.sequence }
    }

    /// Reads the identifier of a report whose name contains only its hash.
    private func sort(_ name: RecordName, at text: String, into scan: inout StoreScan) {
        var name = name
        do throws(RecordProblem) {
            name.id = try readHead(text).id
            // A name that differs from the report's own was made by another program.
            if name.text == text { scan.reports.append(name) } else { scan.foreign.note(text) }
        } catch {
            switch error {
            // The identifier is unknown. The file stays, because a missing key may be restored.
            case .damaged, .sealed: scan.foreign.note(text)
            case .missing(let failure), .failure(let failure): scan.troubles.append(failure)
            }
        }
    }
}

extension StoreScan {
    fileprivate mutating func sort(_ text: String, in files: any Directory, sweeps: Bool) {
        if text == OwnerLock.name || text == ReportStore.deadLetterFolder { return }
        if text == ReportStore.discardsName {
            hasDiscards = true
            return
        }
        guard text.hasPrefix(RecordName.temporaryPrefix) else { return foreign.note(text) }
        guard sweeps else { return }
        do throws(FileFailure) { try files.remove(text) } catch { troubles.append(error) }
    }
}
