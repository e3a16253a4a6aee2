import LoaderChain
import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A directory of the machine.
struct SystemJournalDisk: JournalDisk {
    static let lockName = "lock"

    private let files: SystemFiles
    private let directory: URL

    /// Opens the directory, making it where it is missing.
    init(_ directory: URL) throws(FileFailure) {
        files = try SystemFiles(directory)
        self.directory = directory
    }

    func list() throws(FileFailure) -> [String] { try files.list("") }

    func make(_ name: String) throws(FileFailure) -> any JournalFile {
        let path = directory.appending(path: name).path(percentEncoded: false)
        let (number, code) = uninterrupted { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard number >= 0 else { throw FileFailure("made", name, code: code) }
        return SystemJournalFile(number, name)
    }

    func read(_ name: String) throws(FileFailure) -> Data {
        let file = try files.open(name)
        guard file.length <= FrameReader.longestBlock else { throw FileFailure("read", name, code: EFBIG) }
        var bytes = Data(capacity: Int(file.length))
        while bytes.count < file.length {
            let more = try file.read(Int(file.length) - bytes.count, at: Int64(bytes.count))
            if more.isEmpty { break }
            bytes.append(more)
        }
        return bytes
    }

    func rename(_ name: String, to newName: String) throws(FileFailure) { try files.rename(name, to: newName) }

    func remove(_ name: String) throws(FileFailure) { try files.remove(name) }

    func sync(_ name: String) throws(FileFailure) {
        let path = directory.appending(path: name).path(percentEncoded: false)
        let (number, code) = uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        if number < 0, code == ENOENT { return }
        guard number >= 0 else { throw FileFailure("synchronized", name, code: code) }
        try SystemJournalFile(number, name).sync()
    }

    func syncFolder() throws(FileFailure) { try files.syncFolder("") }

    func lock() throws(FileFailure) -> (any Sendable)? { try files.lock(Self.lockName) }
}

/// A file of the machine, closed when it is let go of.
private final class SystemJournalFile: JournalFile {
    private let number: CInt
    private let name: String

    init(_ number: CInt, _ name: String) {
        self.number = number
        self.name = name
    }

    deinit { close(number) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileFailure) {
        var rest = bytes[...]
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let (count, place) = (rest.count, off_t(offset + bytes.count - rest.count))
            let (written, code) = uninterrupted { pwrite(number, start, count, place) }
            guard written > 0 else { throw FileFailure("written", name, code: written == 0 ? ENOSPC : code) }
            rest = rest.dropFirst(written)
        }
    }

    func sync() throws(FileFailure) {
        let (answer, code) = synchronizeDescriptor(number)
        guard answer == 0 else { throw FileFailure("synchronized", name, code: code) }
    }
}
