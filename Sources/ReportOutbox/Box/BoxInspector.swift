import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Looks into a box from outside, to debug it.
///
/// Reading takes no lock, and does not disturb a box that is open. ``retry(_:)`` and ``purge(_:)`` take it, and fail with
/// ``OutboxError/Code/inUse`` while the box is open somewhere.
///
/// ```swift
/// let inspector = try BoxInspector(directory: url)
/// for report in try inspector.reports() { print(report.id, report.date, report.attempts) }
/// ```
public struct BoxInspector: Sendable {
    private let store: ReportStore

    /// Looks into the box of a directory, which has to be there.
    ///
    /// - Parameters:
    ///   - directory: where the box is.
    ///   - seal: opens what is sealed; without it, what is sealed is listed and not shown.
    public init(directory: URL, seal: (any ReportSeal)? = nil) throws(OutboxError) {
        do throws(FileFailure) {
            let files = try SystemDirectory(existing: directory)
            store = ReportStore(files: files, durability: .process, seal: seal)
        } catch {
            throw OutboxError(.directory, "There is no box to look into: \(error).")
        }
    }

    /// Looks into a box of any directory, for tests.
    package init(files: any Directory, seal: (any ReportSeal)? = nil) {
        store = ReportStore(files: files, durability: .process, seal: seal)
    }

    /// The reports in the box and those that were set aside, each in the order of submission.
    public func reports() throws(OutboxError) -> [ReportSummary] {
        let scan = try scan()
        return scan.reports.map {
            ReportSummary($0, attempts: Int(clamping: $0.attempts), isBeingSent: false, setAsideBecause: nil)
        } + scan.aside.map { ReportSummary($0) }
    }

    /// The request of a report, as it is sent but for what the chain adds and for its bytes.
    public func request(of id: ReportID) throws(OutboxError) -> HTTPRequest {
        try read(id) { path throws(RecordProblem) in try store.readHead(path).request() }
    }

    /// Writes the bytes of a report to a new file, once they are found to be whole.
    ///
    /// - Parameters:
    ///   - id: the report.
    ///   - file: where to write; a file that is there already stays as it is, and is an error.
    public func export(_ id: ReportID, to file: URL) throws(OutboxError) {
        let body = try read(id) { path throws(RecordProblem) in try store.read(path).body }
        let folder: SystemDirectory
        let name = file.lastPathComponent
        do throws(FileFailure) {
            folder = try SystemDirectory(existing: file.deletingLastPathComponent())
            try BodyExport.write(body, to: folder, as: name)
        } catch {
            throw OutboxError(.disk, "The report could not be exported: \(error).")
        }
    }

    /// Puts a report that was set aside back into the box, as one that is submitted now, to be sent when the box is opened next.
    public func retry(_ id: ReportID) throws(OutboxError) {
        let box = try owned(with: id)
        try box.retry(id)
        box.drain()
    }

    /// Removes a report, whether it waits or was set aside.
    ///
    /// - Throws: ``OutboxError/Code/unknownReport`` if there is none.
    public func purge(_ id: ReportID) throws(OutboxError) {
        let box = try owned(with: id)
        box.drain()
        guard box.purge(id) else { throw Self.unknown(id) }
    }

    /// Removes everything, and returns how much that was.
    @discardableResult
    public func purgeAll() throws(OutboxError) -> Int {
        let scan = try scan()
        guard !scan.reports.isEmpty || !scan.aside.isEmpty || !scan.ownBoxes.isEmpty else { return 0 }
        let box = try owned()
        box.drain()
        return box.purgeAll()
    }

    /// The box, opened to be changed, if it has a report.
    private func owned(with id: ReportID) throws(OutboxError) -> ReportOutbox {
        let scan = try scan()
        guard
            scan.reports.contains(where: { $0.id == id }) || scan.aside.contains(where: { $0.name.id == id })
                || !scan.ownBoxes.isEmpty
        else { throw Self.unknown(id) }
        return try owned()
    }

    /// The box, opened to be changed and not to send.
    ///
    /// That leaves a lock in the folder, so it is done only if there is something to change.
    private func owned() throws(OutboxError) -> ReportOutbox {
        var settings = OutboxSettings()
        settings.seal = store.seal
        settings.maximumCount = .max
        settings.maximumBytes = .max
        settings.maximumSetAsideCount = .max
        settings.maximumSetAsideBytes = .max
        return try ReportOutbox(files: store.files, chain: HTTPLoader(), settings: settings, startsSending: false)
    }

    private func scan() throws(OutboxError) -> StoreScan {
        do throws(FileFailure) {
            return try store.scan(sweeps: false)
        } catch {
            throw OutboxError(.directory, "The box cannot be listed: \(error).")
        }
    }

    private func read<Result>(
        _ id: ReportID, _ read: (_ path: String) throws(RecordProblem) -> Result
    ) throws(OutboxError) -> Result {
        let scan = try scan()
        let path = scan.reports.first { $0.id == id }?.text ?? scan.aside.first { $0.name.id == id }?.path
        guard let path else { throw Self.unknown(id) }
        do throws(RecordProblem) { return try read(path) } catch { throw OutboxError(error, id) }
    }

    private static func unknown(_ id: ReportID) -> OutboxError {
        OutboxError(.unknownReport, "There is no report “\(id)” in the box.")
    }
}

/// Writes the bytes of a report to a file of its own.
private enum BodyExport {
    static func write(_ body: StoredBody, to files: any Directory, as name: String) throws(FileFailure) {
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
