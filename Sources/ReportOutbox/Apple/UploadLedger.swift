#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which reports have been handed to uploads that go on without the app, written down before each begins.
///
/// An upload is known to the system by a text of the app's, and that text is the report's identifier. The ledger is what a
/// launch compares with what the system tells it: an upload that ended while the app was not running is settled before
/// anything is sent, and one that still runs is not begun a second time.
struct UploadLedger: Sendable {
    private let files: any FileSystem

    static let suffix = ".upload"

    init(files: any FileSystem) { self.files = files }

    /// Writes down that an upload of a report is about to begin; nothing may begin before this has returned.
    func begin(_ id: ReportID) throws(FileFailure) {
        let temporary = RecordName.temporaryPrefix + name(id)
        try? files.remove(temporary)
        do throws(FileFailure) {
            let output = try files.create(temporary)
            let bytes = Array(id.rawValue.utf8)
            do {
                try bytes.withUnsafeBytes { try output.write($0) }
            } catch {
                throw error as? FileFailure ?? FileFailure("written", temporary, code: 0)
            }
            try output.sync()
            try output.close()
            try files.rename(temporary, to: name(id))
            try files.syncFolder("")
        } catch {
            try? files.remove(temporary)
            throw error
        }
    }

    /// Forgets an upload that has been settled.
    func end(_ id: ReportID) throws(FileFailure) { try files.remove(name(id)) }

    /// The reports whose uploads were begun and not settled.
    func begun() throws(FileFailure) -> [ReportID] {
        var ids: [ReportID] = []
        for text in try files.list("") where text.hasSuffix(Self.suffix) && !text.hasPrefix(RecordName.temporaryPrefix)
        {
            let bytes = try files.open(text).read(ReportID.longest + 1, at: 0)
            // What is torn or foreign names no report, and is of no use to anybody.
            guard let id = String(validating: bytes, as: UTF8.self).flatMap(ReportID.init), name(id) == text else {
                continue
            }
            ids.append(id)
        }
        return ids.sorted { $0.rawValue < $1.rawValue }
    }

    private func name(_ id: ReportID) -> String { id.encoded + Self.suffix }
}
