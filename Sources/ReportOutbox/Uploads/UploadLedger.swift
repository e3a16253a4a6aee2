import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// The directory of uploads that go on without the app.
///
///     lock             held while this process uses the directory
///     <id>.body        the bytes of an upload, as the system reads them
///     <id>.upload      what is uploaded, and the server's answer once there is one
///     tmp-…            a record that is being written
///
/// Bytes come first, then the record, then the upload; so every upload of the system is known here.
struct UploadLedger: Sendable {
    let files: any Directory

    private static let recordSuffix = ".upload"
    private static let bodySuffix = ".body"
    private static let longestRecord = 1 << 20
    /// An answer that was not asked for in so many milliseconds belongs to a report that is gone.
    private static let longestUnclaimed: Int64 = 30 * 24 * 3600 * 1000

    static func body(_ id: UploadID) -> String { id.text + bodySuffix }

    // MARK: Opening

    /// The uploads that were begun and not forgotten; everything else of the ledger's is swept.
    func open(now: Int64) throws(FileFailure) -> [UploadID: UploadRecord] {
        var records: [UploadID: UploadRecord] = [:]
        let names = try files.list("")
        for name in names {
            guard let id = Self.id(name, Self.recordSuffix) else { continue }
            let record = UploadRecord(encoded: try read(name))
            guard let record, record.answer == nil || now - record.begun <= Self.longestUnclaimed else {
                try? files.remove(name)
                continue
            }
            records[id] = record
        }
        for name in names {
            let body = Self.id(name, Self.bodySuffix)
            let isLeft = body.map { records[$0] == nil || records[$0]?.answer != nil } ?? false
            if isLeft || name.hasPrefix(RecordName.temporaryPrefix) { try? files.remove(name) }
        }
        return records
    }

    private static func id(_ name: String, _ suffix: String) -> UploadID? {
        name.hasSuffix(suffix) ? UploadID(String(name.dropLast(suffix.count))) : nil
    }

    /// The bytes of a record; none of a file that is too long for one.
    private func read(_ name: String) throws(FileFailure) -> Data {
        do throws(FileFailure) {
            return try files.contents(of: name, upTo: Self.longestRecord)
        } catch {
            if error.isTooLong { return Data() }
            throw error
        }
    }

    // MARK: Writing

    /// Copies the bytes of a request to where the system reads them, and returns what is uploaded.
    func writeBody(_ id: UploadID, of request: EncodedRequest, key: String) throws -> UploadRecord.Content {
        var digest = Digest128()
        digest.add("\(request.method.rawValue) \(request.url.absoluteString)\n")
        do {
            let file = try files.create(Self.body(id))
            var length: Int64 = 0
            var reader = request.content.makeReader()
            while let piece = try reader.read(upTo: RecordForm.pieceLength) {
                digest.add(piece)
                try file.write(piece, at: length)
                length += Int64(piece.count)
            }
            try file.close()
        } catch {
            discardBody(id)
            throw error
        }
        return UploadRecord.Content(key: key, digest: digest.text)
    }

    /// Writes down an upload; nothing may begin before this has returned.
    func write(_ id: UploadID, _ record: UploadRecord) throws(FileFailure) {
        try files.replace(
            id.text + Self.recordSuffix, with: record.encoded, through: RecordName.temporaryPrefix + id.text)
    }

    /// Removes the bytes of an upload; what cannot be removed is swept in the next launch.
    func discardBody(_ id: UploadID) { try? files.remove(Self.body(id)) }

    /// Removes all of an upload, its record first: bytes alone mean nothing.
    func forget(_ id: UploadID) {
        try? files.remove(id.text + Self.recordSuffix)
        discardBody(id)
    }
}
