// DurableFiles: files that survive the process that writes them, for everything that the package stores on disk.
//
// All disk access goes through a `Directory`: `SystemDirectory` is a directory of the file system, and tests use an in-memory
// directory that fails, fills up and loses power on demand. This module depends on no other, and any module may depend on it.
//
//     Directory        the protocol, operations built from its calls, and the errors
//     SystemDirectory  a directory of the file system, accessed by its descriptor
//     FileDescriptor   an open file

import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// A directory on a disk.
///
/// All disk access goes through this protocol, so that a test can count every call, and make any of them fail. Paths are
/// relative to the directory, and contain at most one folder. Each call performs one operation on the disk, and throws if the
/// operation failed.
package protocol Directory: Sendable {
    /// Creates a folder, unless it exists.
    func makeFolder(_ path: String) throws(FileFailure)

    /// Opens a folder as a separate directory, and creates it if it is missing.
    func folder(_ path: String) throws(FileFailure) -> any Directory

    /// Returns the names in a folder, unordered; the empty path is the directory itself.
    func list(_ folder: String) throws(FileFailure) -> [String]

    /// Creates a file for writing; fails if the file exists.
    func create(_ path: String) throws(FileFailure) -> any DurableFile

    /// Opens a file for writing, and truncates it to `length` bytes if it is longer; fails if there is no file.
    func reopen(_ path: String, keeping length: Int64) throws(FileFailure) -> any DurableFile

    /// Opens a file for reading.
    func open(_ path: String) throws(FileFailure) -> any DurableFile

    /// Opens an existing file for reading and for writing in place.
    func update(_ path: String) throws(FileFailure) -> any DurableFile

    /// Gives a file the permissions that a file created with mode 0666 would get.
    ///
    /// They depend on the process's mask (`umask`) and on the directory's defaults. A directory whose files have no modes does
    /// nothing.
    func share(_ path: String) throws(FileFailure)

    /// Renames a file, and replaces any file that has the new name.
    func rename(_ path: String, to newPath: String) throws(FileFailure)

    /// Removes a file; succeeds if there is none.
    func remove(_ path: String) throws(FileFailure)

    /// Flushes the names in a folder to the disk, so that they survive a loss of power.
    func syncFolder(_ folder: String) throws(FileFailure)

    /// Acquires the lock of that name until the returned value is released, or returns nil if another holder has it.
    ///
    /// A process that ends releases its locks. The lock is a file, which its holder may remove before it releases the lock.
    func lock(_ path: String) throws(FileFailure) -> (any Sendable)?

    /// Returns the URL of a file for other readers, or nil if the file has none.
    func url(of path: String) -> URL?
}

/// An open file, closed at the latest when its last reference is released; each read and write names its offset, so threads can share it.
package protocol DurableFile: AnyObject, Sendable {
    func length() throws(FileFailure) -> Int64

    /// Reads at most `count` bytes from `offset` on; returns no bytes at the end of the file.
    func read(_ count: Int, at offset: Int64) throws(FileFailure) -> Data

    /// Writes all of the bytes from `offset` on.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFailure)

    /// Flushes the written bytes to the disk, so that they survive a loss of power.
    func sync() throws(FileFailure)

    /// Closes the file, and throws an error that the system reports only on closing. No other thread may be using the file.
    func close() throws(FileFailure)
}

// MARK: - Whole files

extension Directory {
    /// Reads a whole file; fails with `EFBIG` if it is longer than `longest`.
    package func contents(of path: String, upTo longest: Int) throws(FileFailure) -> Data {
        let file = try open(path)
        let length = try file.length()
        guard length <= longest else { throw FileFailure("read", path, code: EFBIG) }
        return try file.readAll(Int(length), at: 0)
    }

    /// Replaces the content of a file atomically, so that it has the old or the new content if the process or the machine stops meanwhile;
    /// a file of the temporary name is lost.
    package func replace(_ path: String, with bytes: Data, through temporary: String) throws(FileFailure) {
        try? remove(temporary)
        do throws(FileFailure) {
            let file = try create(temporary)
            try file.write(bytes, at: 0)
            try file.sync()
            try file.close()
            try rename(temporary, to: path)
            try syncFolder("")
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// Flushes a file to the disk; does nothing if the file is missing.
    package func sync(_ path: String) throws(FileFailure) {
        do throws(FileFailure) { try open(path).sync() } catch { if !error.isMissing { throw error } }
    }
}

extension DurableFile {
    /// Reads `count` bytes from `offset` on, or fewer if the file ends before.
    package func readAll(_ count: Int, at offset: Int64) throws(FileFailure) -> Data {
        var bytes = try read(count, at: offset)
        while bytes.count < count {
            let more = try read(count - bytes.count, at: offset + Int64(bytes.count))
            if more.isEmpty { break }
            bytes.append(more)
        }
        return bytes
    }

    package func write(_ bytes: Data, at offset: Int64) throws(FileFailure) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(FileFailure) in try write(buffer, at: offset) }
        }
        try result.get()
    }
}

/// A file that is read and replaced as a whole, in a directory of the file system that is created if it is missing.
package struct WholeFile: Sendable {
    private let url: URL

    package init(_ url: URL) { self.url = url }

    /// The content; nil if there is no file.
    package func contents(upTo longest: Int) throws(FileFailure) -> Data? {
        do throws(FileFailure) { return try directory().contents(of: url.lastPathComponent, upTo: longest) } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    package func replace(with bytes: Data) throws(FileFailure) {
        let name = url.lastPathComponent
        try directory().replace(name, with: bytes, through: name + ".new")
    }

    /// Removes the file; succeeds if there is none.
    package func remove() throws(FileFailure) { try directory().remove(url.lastPathComponent) }

    private func directory() throws(FileFailure) -> SystemDirectory {
        guard url.isFileURL, !url.hasDirectoryPath else { throw FileFailure("opened", url.path, code: EISDIR) }
        return try SystemDirectory(url.deletingLastPathComponent())
    }
}

// MARK: - Failures

package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation, as a participle such as “written”.
    package let action: String
    /// The file's name within its directory.
    package let path: String
    /// The number of the system's error.
    package let code: CInt
    /// Whether the directory itself was deleted while it was in use.
    package var isWithoutDirectory = false

    package init(_ action: String, _ path: String, code: CInt) {
        self.action = action
        self.path = path
        self.code = code
    }

    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    package var isMissing: Bool { code == ENOENT }

    /// Whether the file is longer than its reader allows.
    package var isTooLong: Bool { code == EFBIG }

    /// Whether the path is a directory, a pipe or a device instead of a file.
    package var isIrregular: Bool { code == EISDIR }

    /// The reason why a file could not be written, in a few words.
    package var cause: String {
        switch code {
        case ENOENT, ENOTDIR: "there is no such directory"
        case EACCES, EPERM, EROFS: "permission is denied"
        case ENOSPC, EDQUOT: "the disk is full"
        case EISDIR: "it is a directory"
        case ENAMETOOLONG: "its name is too long"
        default: "system error \(code)"
        }
    }

    package var description: String {
        if isWithoutDirectory { return "“\(path)” cannot be \(action): its directory was deleted while it was in use" }
        return "“\(path)” cannot be \(action): \(String(cString: strerror(code))) (\(code))"
    }
}
