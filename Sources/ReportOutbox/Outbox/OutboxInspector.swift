import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Inspects and repairs an outbox from outside, for debugging.
///
/// Reading takes no lock, and does not disturb an outbox that is open. ``retry(_:)`` and ``purge(_:)``, and the same for all
/// reports, take the lock, and fail with ``OutboxError/Code/inUse`` while the outbox is open somewhere.
///
/// ```swift
/// let inspector = try OutboxInspector(directory: url)
/// for report in try inspector.reports() { print(report.id, report.date, report.attempts) }
/// ```
public struct OutboxInspector: Sendable {
    private let store: ReportStore

    /// Creates an inspector for the outbox in a directory, which must exist.
    ///
    /// - Parameters:
    ///   - directory: the directory of the outbox.
    ///   - seal: the seal of the outbox; without it, sealed reports are listed, but their requests and bytes cannot be read.
    public init(directory: URL, seal: (any ReportSeal)? = nil) throws(OutboxError) {
        do throws(FileFailure) {
            let files = try SystemDirectory(existing: directory)
            store = ReportStore(files: files, durability: .process, seal: seal)
        } catch {
            throw OutboxError(.directory, "The directory of the outbox cannot be opened: \(error).")
        }
    }

    /// Creates an inspector for an outbox in any directory, for tests.
    package init(files: any Directory, seal: (any ReportSeal)? = nil) {
        store = ReportStore(files: files, durability: .process, seal: seal)
    }

    /// The reports in the outbox, followed by the dead letters, each in the order of submission.
    public func reports() throws(OutboxError) -> [ReportSummary] {
        let scan = try scan()
        return scan.reports.map { ReportSummary($0) } + scan.deadLetters.map { ReportSummary($0) }
    }

    /// The request of a report, without its body and without what the chain adds.
    public func request(of id: ReportID) throws(OutboxError) -> HTTPRequest {
        try read(id) { path throws(RecordProblem) in try store.readHead(path).request() }
    }

    /// Writes the bytes of a report to a new file, after verifying their checksum.
    ///
    /// - Parameters:
    ///   - id: the identifier of the report.
    ///   - file: the file to write; an existing file is not overwritten, and is an error.
    /// - Throws: ``OutboxError/Code/unreadable`` if the bytes cannot be read, or the app keeps them in a file of its own.
    public func export(_ id: ReportID, to file: URL) throws(OutboxError) {
        let body = try read(id) { path throws(RecordProblem) in try store.read(path).body }
        guard body.isEmpty || !body.range.isEmpty else {
            throw OutboxError(
                .unreadable,
                "The bytes of “\(id)” are in a file that the app keeps, and not in the outbox; copy that file.")
        }
        let folder: SystemDirectory
        let name = file.lastPathComponent
        do throws(FileFailure) {
            folder = try SystemDirectory(existing: file.deletingLastPathComponent())
            try Self.write(body, to: folder, as: name)
        } catch {
            throw OutboxError(.disk, "The report could not be exported: \(error).")
        }
    }

    /// Returns a dead letter to the outbox, as a report that was submitted now; it is sent when the outbox is opened next.
    public func retry(_ id: ReportID) throws(OutboxError) {
        let outbox = try owned(with: id)
        try outbox.retry(id)
        outbox.drain()
    }

    /// Returns all dead letters to the outbox, like ``retry(_:)``, and returns their number.
    ///
    /// One that cannot be returned, because a report with its identifier waits, stays, and is not counted.
    @discardableResult
    public func retryAll() throws(OutboxError) -> Int {
        let scan = try scan()
        guard !scan.deadLetters.isEmpty else { return 0 }
        let outbox = try owned()
        outbox.drain()
        var count = 0
        for id in outbox.deadLetters.map(\.id) {
            do throws(OutboxError) {
                try outbox.retry(id)
                count += 1
            } catch  where error.code == .unknownReport {}
        }
        outbox.drain()
        return count
    }

    /// Removes a waiting report, or a dead letter.
    ///
    /// A file that the app keeps stays: no ``ReportLocationProvider`` is asked to release it, so the app has to remove it.
    ///
    /// - Throws: ``OutboxError/Code/unknownReport`` if no report has the identifier.
    public func purge(_ id: ReportID) throws(OutboxError) {
        let outbox = try owned(with: id)
        outbox.drain()
        guard outbox.purge(id) else { throw Self.unknown(id) }
    }

    /// Removes all reports and dead letters, and returns their number.
    ///
    /// Files that the app keeps stay, as with ``purge(_:)``.
    @discardableResult
    public func purgeAll() throws(OutboxError) -> Int {
        let scan = try scan()
        guard !scan.reports.isEmpty || !scan.deadLetters.isEmpty else { return 0 }
        let outbox = try owned()
        outbox.drain()
        return outbox.purgeAll()
    }

    /// Opens the outbox for changes, if it contains the report.
    private func owned(with id: ReportID) throws(OutboxError) -> ReportOutbox {
        let scan = try scan()
        guard
            scan.reports.contains(where: { $0.id == id }) || scan.deadLetters.contains(where: { $0.name.id == id })
        else { throw Self.unknown(id) }
        return try owned()
    }

    /// Opens the outbox for changes, without sending; that creates a lock file, so it is opened only if there is something to change.
    private func owned() throws(OutboxError) -> ReportOutbox {
        var settings = OutboxSettings()
        settings.seal = store.seal
        settings.maximumCount = .max
        settings.maximumBytes = .max
        settings.maximumDeadLetterCount = .max
        settings.maximumDeadLetterBytes = .max
        return try ReportOutbox(files: store.files, chain: HTTPLoader(), settings: settings, startsSending: false)
    }

    private func scan() throws(OutboxError) -> StoreScan {
        do throws(FileFailure) {
            return try store.scan(sweeps: false)
        } catch {
            throw OutboxError(.directory, "The outbox cannot be listed: \(error).")
        }
    }

    private func read<Result>(
        _ id: ReportID, _ read: (_ path: String) throws(RecordProblem) -> Result
    ) throws(OutboxError) -> Result {
        let scan = try scan()
        let path = scan.reports.first { $0.id == id }?.text ?? scan.deadLetters.first { $0.name.id == id }?.path
        guard let path else { throw Self.unknown(id) }
        do throws(RecordProblem) { return try read(path) } catch { throw OutboxError(error, id) }
    }

    private static func unknown(_ id: ReportID) -> OutboxError {
        OutboxError(.unknownReport, "The outbox has no report “\(id)”.")
    }

    private static func write(_ body: StoredBody, to files: any Directory, as name: String) throws(FileFailure) {
        let file = try files.create(name)
        do {
            var reader = try body.encode().makeReader()
            var length: Int64 = 0
            while let piece = try reader.read(upTo: RecordForm.pieceLength) {
                try file.write(piece, at: length)
                length += Int64(piece.count)
            }
            try file.close()
        } catch {
            try? files.remove(name)
            throw error as? FileFailure ?? FileFailure("written", name, code: 0)
        }
    }
}
