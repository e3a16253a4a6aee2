import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformC

/// The file of a block: its name, which contains everything that is needed to read it.
struct BlockFile: Sendable, Hashable {
    /// The position in the order of blocks.
    let number: UInt64
    let precision: Precision
    /// The salt of the checksums.
    let salt: UInt64

    static let suffix = ".lines"

    /// The name, such as `000000000000002a-nanoseconds-00000000009f3a5c.lines`.
    var name: String {
        "\(Hexadecimal.text(number))-\(precision.rawValue)-\(Hexadecimal.text(salt))\(Self.suffix)"
    }

    init(number: UInt64, precision: Precision, salt: UInt64) {
        self.number = number
        self.precision = precision
        self.salt = salt
    }

    /// Parses a name; nil if it is not a name of this type.
    init?(_ name: String) {
        guard name.hasSuffix(Self.suffix) else { return nil }
        let parts = name.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Hexadecimal.value(of: parts[0].utf8),
            let precision = Precision(rawValue: String(parts[1])), let salt = Hexadecimal.value(of: parts[2].utf8)
        else { return nil }
        self.init(number: number, precision: precision, salt: salt)
        // A name that is spelled differently would not lead back to the file.
        guard self.name == name else { return nil }
    }
}

/// The open file of a block, created by the first thread that writes to it.
final class BlockJournal: Sendable {
    let file: BlockFile
    private let directory: any Directory
    /// The file, or the error of opening it; nil until a thread has tried.
    private let opened = Locked<Result<any DurableFile, FileFailure>?>(nil)

    init(_ file: BlockFile, in directory: any Directory) {
        self.file = file
        self.directory = directory
    }

    /// Writes a line to its position; positions do not overlap, so any number of threads may write at once.
    func write(_ line: UnsafeRawBufferPointer, at offset: Int) throws(FileFailure) {
        let journal = try open()
        let checksum = LineFrame.checksum(of: line, salt: file.salt)
        let result = withUnsafeTemporaryAllocation(byteCount: LineFrame.length(of: line.count), alignment: 8) { frame in
            if let place = frame.baseAddress { LineFrame.write(line, checksum: checksum, at: place) }
            return Result { () throws(FileFailure) in
                try journal.write(UnsafeRawBufferPointer(frame), at: Int64(offset))
            }
        }
        try result.get()
    }

    func write(_ block: LineBlock) throws(FileFailure) {
        let journal = try open()
        let result = block.withChecksums(salt: file.salt).withUnsafeBytes { bytes in
            Result { () throws(FileFailure) in try journal.write(bytes, at: 0) }
        }
        try result.get()
    }

    /// The open file; no thread waits for another: if the file is being created, a second thread opens it too.
    private func open() throws(FileFailure) -> any DurableFile {
        if let opened = opened.withLock({ $0 }) { return try opened.get() }
        let result = Result { () throws(FileFailure) in try create() }
        opened.withLock { if $0 == nil { $0 = result } }
        return try result.get()
    }

    private func create() throws(FileFailure) -> any DurableFile {
        do throws(FileFailure) { return try directory.create(file.name) } catch {
            // The name is unique to this block, so another thread has created the file.
            guard error.code == EEXIST else { throw error }
            return try directory.update(file.name)
        }
    }
}
