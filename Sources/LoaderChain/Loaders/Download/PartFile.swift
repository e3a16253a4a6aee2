import DurableFiles
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// A file that is being downloaded, with a record of its bytes, next to its destination.
///
/// While it is there, no other download writes to the same destination. The record never claims more than what is on the disk:
/// it is written after the bytes were flushed, and removed before bytes of another version come.
///
/// Used by one thread at a time.
final class PartFile {
    private let directory: any Directory
    private let name: String
    private var lock: (any Sendable)?
    private var file: (any DurableFile)?
    /// Whether bytes may be missing on the disk although a later flush would succeed.
    private var hasLostBytes = false

    private var part: String { name + ".part" }
    private var record: String { name + ".part.json" }
    private var lockName: String { name + ".part.lock" }

    /// Takes the destination of a download; nil if another download has it.
    init?(_ name: String, in directory: any Directory) throws(FileFailure) {
        self.directory = directory
        self.name = name
        lock = try directory.lock(lockName)
        if lock == nil { return nil }
    }

    /// Returns what an earlier download has left, and how many bytes the file has; nil if that is of no use.
    func left(of subject: String) -> (record: DownloadRecord, length: Int64)? {
        guard let bytes = try? directory.contents(of: record, upTo: DownloadRecord.longest),
            let record = try? JSONDecoder().decode(DownloadRecord.self, from: bytes), record.subject == subject,
            let length = try? directory.open(part).length()
        else { return nil }
        return (record, length)
    }

    func begin() throws(FileFailure) {
        try discard()
        file = try directory.create(part)
        hasLostBytes = false
    }

    func goOn(after count: Int64) throws(FileFailure) {
        if file == nil { file = try directory.reopen(part, keeping: count) }
    }

    func write(_ bytes: Data, at offset: Int64) throws(FileFailure) { try file?.write(bytes, at: offset) }

    /// Flushes what was written, and then says so in the record.
    func keep(_ record: DownloadRecord) throws(FileFailure) {
        try flush()
        guard let bytes = try? JSONEncoder().encode(record) else { return }
        try directory.replace(self.record, with: bytes, through: self.record + ".new")
    }

    private func flush() throws(FileFailure) {
        // A system reports bytes that it could not write once only.
        guard !hasLostBytes else { throw FileFailure("synchronized", part, code: EIO) }
        do throws(FileFailure) { try file?.sync() } catch {
            hasLostBytes = true
            throw error
        }
    }

    func has(_ checksum: ServerChecksum) throws(FileFailure) -> Bool {
        let opened = try directory.open(part)
        var digest = checksum.kind.begin()
        var offset: Int64 = 0
        while true {
            let bytes = try opened.read(256 * 1024, at: offset)
            if bytes.isEmpty { break }
            digest.add(bytes)
            offset += Int64(bytes.count)
        }
        return digest.finish() == checksum.bytes
    }

    /// Moves the complete file to its destination, where it replaces an existing file.
    func finish() throws(FileFailure) {
        try flush()
        try close()
        // The file is complete and right, and stays so if a file system has no modes.
        try? directory.share(part)
        try directory.rename(part, to: name)
        try directory.syncFolder("")
        // The file is there; what is left over would only be in the way.
        try? directory.remove(record)
        try? directory.remove(lockName)
        lock = nil
    }

    /// Keeps what the next download can use, or removes everything without a record.
    ///
    /// After this, as after ``finish()``, the destination is free, although there may be references to this object: a caller
    /// that has the result may begin the next download at once.
    func leave(_ record: DownloadRecord?) {
        if let record {
            try? keep(record)
        } else {
            try? discard()
            try? directory.remove(lockName)
        }
        lock = nil
    }

    func discard() throws(FileFailure) {
        try close()
        try directory.remove(record)
        // No record may be there again after a loss of power, with other bytes than those it speaks of.
        try directory.syncFolder("")
        try directory.remove(part)
    }

    private func close() throws(FileFailure) {
        let file = replace(&file, with: nil)
        try file?.close()
    }
}

/// The record of a part file: the version that it has bytes of, and the number of bytes that are certain.
struct DownloadRecord: Hashable, Sendable, Codable {
    /// A digest of the address or name, because a URL may have secrets.
    let subject: String
    let version: DownloadVersion
    /// How many bytes were flushed to the disk; after a loss of power, a file may be longer than what was written.
    let kept: Int64

    /// The most bytes that a record has.
    static let longest = 64 * 1024

    static func subject(_ text: String) -> String { Hexadecimal.text(of: SHA256.of(text.utf8)) }
}
