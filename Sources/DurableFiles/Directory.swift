// DurableFiles: files that survive the process that writes them, for everything that the package keeps on a disk.
//
// A `Directory` is the one way to a disk: `SystemDirectory` is the machine's, and tests have one in memory that fails, fills up
// and loses power whenever they say so. It depends on nothing, and any module may depend on it.
//
//     Directory        the protocol, what can be built from its calls, and what can go wrong
//     SystemDirectory  a directory of the machine, by its descriptor
//     FileDescriptor   an open file

import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// A directory on a disk.
///
/// All access to a disk goes through this protocol, so that a test can count every call, and make any of them fail. Paths are
/// relative to the directory, with at most one folder in them. Each call does one thing to the disk, and either has done it or
/// throws.
package protocol Directory: Sendable {
    /// Makes a folder, unless it exists.
    func makeFolder(_ path: String) throws(FileFailure)

    /// Opens a folder as a directory of its own, and makes it if it is missing.
    func folder(_ path: String) throws(FileFailure) -> any Directory

    /// Returns the names in a folder, in no order; the empty path is the directory itself.
    func list(_ folder: String) throws(FileFailure) -> [String]

    /// Creates a file to write to; fails if the file exists.
    func create(_ path: String) throws(FileFailure) -> any DurableFile

    /// Opens a file to write to, and cuts off what it has after the first `length` bytes; fails if there is no file.
    func reopen(_ path: String, keeping length: Int64) throws(FileFailure) -> any DurableFile

    /// Opens a file to read from.
    func open(_ path: String) throws(FileFailure) -> any DurableFile

    /// Opens a file that exists, to read from and to write to in place.
    func update(_ path: String) throws(FileFailure) -> any DurableFile

    /// Lets those read a file, and write to it, who could if the process had created it in the usual way.
    ///
    /// The process's mask (`umask`) decides, and what the directory itself prescribes. A directory whose files have no modes does nothing.
    func share(_ path: String) throws(FileFailure)

    /// Renames a file, and replaces one that has the new name.
    func rename(_ path: String, to newPath: String) throws(FileFailure)

    /// Removes a file; succeeds if there is none.
    func remove(_ path: String) throws(FileFailure)

    /// Flushes the names in a folder to the disk, so that they survive a loss of power.
    func syncFolder(_ folder: String) throws(FileFailure)

    /// Takes the lock of that name until the returned value is released, or returns nil if another holder has it.
    ///
    /// A process that dies loses its locks. The lock is a file, which its holder may remove before it releases the lock.
    func lock(_ path: String) throws(FileFailure) -> (any Sendable)?

    /// Returns where others can read a file, or nil if they cannot.
    func url(of path: String) -> URL?
}

/// An open file, closed at the latest when its last reference goes.
///
/// It has no position of its own: each read and write says where, so threads that share a file do not disturb each other.
package protocol DurableFile: AnyObject, Sendable {
    /// Returns how many bytes the file has.
    func length() throws(FileFailure) -> Int64

    /// Reads at most `count` bytes from `offset` on: none at the end.
    func read(_ count: Int, at offset: Int64) throws(FileFailure) -> Data

    /// Writes all of the bytes from `offset` on.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFailure)

    /// Flushes what was written to the disk, so that it survives a loss of power.
    func sync() throws(FileFailure)

    /// Closes the file, once no other thread uses it, and reports what the system says only then.
    func close() throws(FileFailure)
}

// MARK: - Whole files

extension Directory {
    /// Reads a whole file, which fails with `EFBIG` if it is longer than `longest`.
    package func contents(of path: String, upTo longest: Int) throws(FileFailure) -> Data {
        let file = try open(path)
        let length = try file.length()
        guard length <= longest else { throw FileFailure("read", path, code: EFBIG) }
        return try file.readAll(Int(length), at: 0)
    }

    /// Writes a whole file, so that a process or a machine that dies meanwhile leaves the old content or the new.
    ///
    /// - Parameter temporary: the name under which it is written; what has that name is lost.
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

    /// Whether there is a folder of that name, and no file.
    package func isFolder(_ path: String) throws(FileFailure) -> Bool {
        do throws(FileFailure) {
            _ = try list(path)
            return true
        } catch {
            if error.isNoFolder { return false }
            throw error
        }
    }

    /// Flushes a file to the disk; one that is missing needs it no more.
    package func sync(_ path: String) throws(FileFailure) {
        do throws(FileFailure) { try open(path).sync() } catch { if !error.isMissing { throw error } }
    }
}

extension DurableFile {
    /// Reads `count` bytes from `offset` on, or as many as there are before the end.
    package func readAll(_ count: Int, at offset: Int64) throws(FileFailure) -> Data {
        var bytes = try read(count, at: offset)
        while bytes.count < count {
            let more = try read(count - bytes.count, at: offset + Int64(bytes.count))
            if more.isEmpty { break }
            bytes.append(more)
        }
        return bytes
    }

    /// Writes all of the bytes from `offset` on.
    package func write(_ bytes: Data, at offset: Int64) throws(FileFailure) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(FileFailure) in try write(buffer, at: offset) }
        }
        try result.get()
    }
}

// MARK: - Failures

/// Something that could not be done with a file.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was to be done, as a participle such as “written”.
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

    /// Whether there is no room left, on the disk or in a quota.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the file does not exist.
    package var isMissing: Bool { code == ENOENT }

    /// Whether there is something else in the place of a folder.
    package var isNoFolder: Bool { code == ENOTDIR }

    /// Whether the file is longer than its reader allows.
    package var isTooLong: Bool { code == EFBIG }

    /// Whether there is a directory, a pipe or a device in the place of a file.
    package var isIrregular: Bool { code == EISDIR }

    /// Why, in a few words, for what was to be written.
    package var cause: String {
        switch code {
        case ENOENT, ENOTDIR: "there is no such directory"
        case EACCES, EPERM, EROFS: "permission is denied"
        case ENOSPC, EDQUOT: "the disk is full"
        case EISDIR: "there is a directory in its place"
        case ENAMETOOLONG: "its name is too long"
        default: "system error \(code)"
        }
    }

    package var description: String {
        if isWithoutDirectory { return "“\(path)” cannot be \(action): its directory was deleted while it was in use" }
        return "“\(path)” cannot be \(action): \(String(cString: strerror(code))) (\(code))"
    }
}
