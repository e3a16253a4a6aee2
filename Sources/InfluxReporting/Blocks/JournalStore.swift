import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation
import Synchronization

/// Stores blocks in files, and removes each file when all of its lines are settled.
///
/// Every line is in its block's file before the call that writes it returns. Blocks stay in memory up to a limit; the others are
/// read from their files before they are sent.
final class JournalStore: Sendable {
    private let directory: any Directory
    private let precision: Precision
    private let random: RandomSource
    private let lastNumber: Atomic<UInt64>
    /// The files that could not be read in full.
    private let damaged = Locked<Set<BlockFile>>([])
    /// The lock of the directory; nil after it was released for another writer.
    private let lock: Locked<(any Sendable)?>

    /// Opens the store in a directory, and locks it; timestamps in new blocks have this unit, and `random` is the source of the salts.
    init(_ directory: any Directory, precision: Precision, random: RandomSource) throws(WriterError) {
        self.directory = directory
        self.precision = precision
        self.random = random
        do throws(FileFailure) { lock = Locked(try directory.takeOwnership()) } catch { throw WriterError(error) }
        lastNumber = Atomic(0)
    }

    /// The files that an earlier launch left.
    struct Remains {
        var blocks: [(file: BlockFile, points: Int, bytes: Int, size: Int)] = []
        var damaged: [(name: String, bytes: Int)] = []
        /// Files that could not be read, and stay for the next launch.
        var unread: [BlockFile] = []
        var foreign = ForeignFiles()
        /// Damaged files that were removed, because there are newer ones.
        var removed: [String] = []
        var troubles: [FileFailure] = []
    }

    /// Reads all files, removes blank ones, and renames those without an intact line.
    func takeRemains() throws(WriterError) -> Remains {
        var remains = Remains()
        let names: [String]
        do throws(FileFailure) { names = try directory.list("") } catch { throw WriterError(error) }
        for name in names.sorted() where name != OwnerLock.name {
            let aside = DamagedFile.block(of: name)
            guard let file = aside ?? BlockFile(name) else {
                remains.foreign.note(name)
                continue
            }
            lastNumber.store(max(lastNumber.load(ordering: .relaxed), file.number), ordering: .relaxed)
            guard aside == nil else { continue }
            do throws(FileFailure) {
                let (frames, bytes) = try frames(of: file)
                if frames.isBlank {
                    try directory.remove(name)
                } else if frames.lines.isEmpty {
                    remains.damaged.append((name, bytes.count))
                    try setAside(file)
                } else {
                    if frames.damagedBytes > 0 {
                        remains.damaged.append((name, frames.damagedBytes))
                        damaged.withLock { _ = $0.insert(file) }
                    }
                    let length = frames.lines.reduce(0) { $0 + $1.count }
                    remains.blocks.append((file, frames.lines.count, length, bytes.count))
                }
            } catch {
                remains.unread.append(file)
                remains.troubles.append(error)
            }
        }
        do throws(FileFailure) { remains.removed = try trimAside() } catch { remains.troubles.append(error) }
        return remains
    }

    /// Keeps a damaged file under a different name.
    private func setAside(_ file: BlockFile) throws(FileFailure) {
        try directory.rename(file.name, to: DamagedFile.name(of: file))
    }

    /// Removes the oldest damaged files, if there are too many, and returns their names.
    ///
    /// It lists the directory, because the user may have removed some.
    ///
    /// - Parameter newest: the files that have just been renamed, which stay although their lines may be older.
    private func trimAside(after newest: [String] = []) throws(FileFailure) -> [String] {
        let aside = try directory.list("").filter { DamagedFile.block(of: $0) != nil && !newest.contains($0) }.sorted()
        var removed: [String] = []
        for name in aside.dropLast(max(0, DamagedFile.mostKept - newest.count)) {
            do throws(FileFailure) { try directory.remove(name) } catch {
                // Removed files are reported; the others are tried again later.
                if removed.isEmpty { throw error }
                break
            }
            removed.append(name)
        }
        return removed
    }

    private func frames(of file: BlockFile) throws(FileFailure) -> (FrameReader, Data) {
        let bytes = try directory.contents(of: file.name, upTo: FrameReader.longestBlock)
        return (bytes.withUnsafeBytes { FrameReader($0, salt: file.salt) }, bytes)
    }

    // MARK: Blocks

    /// Chooses the name of a new block's file; creates nothing yet.
    func begin() -> BlockJournal {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return BlockJournal(BlockFile(number: number, precision: precision, salt: random.next()), in: directory)
    }

    /// Reads the lines of a block that is not in memory, and the number of its damaged bytes; if there are fewer lines than `points`,
    /// ``remove(_:)`` keeps the file for inspection.
    func read(_ file: BlockFile, points: Int) throws(FileFailure) -> (lines: LineBatch, damagedBytes: Int) {
        let (frames, bytes) = try frames(of: file)
        if frames.lines.count < points { damaged.withLock { _ = $0.insert(file) } }
        var lines = Data(capacity: bytes.count)
        var ends: [Int] = []
        for line in frames.lines {
            lines.append(bytes[line])
            ends.append(lines.count)
        }
        let batch = LineBatch(bytes: lines, ends: ends, precision: file.precision)
        return (batch ?? LineBatch(precision: file.precision), frames.damagedBytes)
    }

    /// Removes blocks whose lines are settled, and returns the names of damaged files that were removed because there are newer
    /// ones.
    func remove(_ files: [BlockFile]) throws(FileFailure) -> [String] {
        // After the lock was released, the files may belong to another writer.
        guard lock.withLock({ $0 != nil }) else { return [] }
        var failure: FileFailure?
        var newest: [String] = []
        for file in files {
            let isDamaged = damaged.withLock { $0.remove(file) != nil }
            if isDamaged { newest.append(DamagedFile.name(of: file)) }
            // The intact lines are settled; the damaged rest may still be useful to the user.
            do throws(FileFailure) { try isDamaged ? setAside(file) : directory.remove(file.name) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return newest.isEmpty ? [] : try trimAside(after: newest)
    }

    func sync(_ file: BlockFile) throws(FileFailure) { try directory.sync(file.name) }

    /// Flushes the names of the files to the disk.
    func syncFolder() throws(FileFailure) { try directory.syncFolder("") }

    /// Releases the directory for the next writer.
    func close() { _ = lock.withLock { replace(&$0, with: nil) } }
}

/// The names of damaged blocks' files, which the writer never reads; the newest few stay until the user has inspected and removed them.
enum DamagedFile {
    static let mostKept = 32

    private static let suffix = ".damaged"

    static func name(of file: BlockFile) -> String { file.name + suffix }

    /// The block of a damaged file's name; nil if it is not such a name.
    static func block(of name: String) -> BlockFile? {
        name.hasSuffix(suffix) ? BlockFile(String(name.dropLast(suffix.count))) : nil
    }
}

/// The error of a writer that cannot use its directory.
public struct WriterError: Error, Sendable, Hashable {
    /// The kind of error; there may be more kinds in the future.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the kind.
        public let rawValue: String

        /// Makes a kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the kind.
        public var description: String { rawValue }

        /// Another writer, in this process or in another, is using the directory.
        public static let inUse = Code(rawValue: "inUse")
        /// The disk, or a quota, is full.
        public static let diskFull = Code(rawValue: "diskFull")
        /// The directory cannot be used for another reason.
        public static let directory = Code(rawValue: "directory")
    }

    /// The kind of error.
    public let code: Code
    /// The cause, and what to do.
    public let reason: String

    init(_ failure: FileFailure) {
        code = Code(rawValue: failure.obstacle.rawValue)
        reason = failure.reason(for: "writer")
    }
}

extension WriterError: CustomStringConvertible, LocalizedError {
    /// The kind and the reason.
    public var description: String { "\(code.rawValue): \(reason)" }

    /// The description, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
