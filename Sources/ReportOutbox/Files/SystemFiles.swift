import LoaderChain

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

/// A directory of the machine's file system.
///
/// Everything goes by a descriptor of the directory, so nothing looks up its whole path, and a directory that is moved
/// while it is in use stays the same.
package final class SystemFiles: FileSystem {
    private let root: CInt
    private let directory: URL

    /// Opens the directory, making it where it is missing.
    package convenience init(_ directory: URL) throws(FileFailure) {
        try Self.makePath(try Self.path(directory))
        try self.init(existing: directory)
    }

    private static func path(_ directory: URL) throws(FileFailure) -> String {
        let path = directory.path(percentEncoded: false)
        guard directory.isFileURL, !path.utf8.contains(0) else {
            throw FileFailure("opened", directory.absoluteString, code: ENOENT)
        }
        return path
    }

    /// Opens a directory that is there.
    package init(existing directory: URL) throws(FileFailure) {
        let path = try Self.path(directory)
        let (root, code) = uninterrupted { openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard root >= 0 else { throw FileFailure("opened", path, code: code) }
        self.root = root
        self.directory = directory
    }

    deinit { close(root) }

    /// Makes a directory and those above it, for this user alone.
    private static func makePath(_ path: String) throws(FileFailure) {
        let (answer, code) = uninterrupted { mkdir(path, 0o700) }
        if answer == 0 || code == EEXIST { return }
        guard code == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex else {
            throw FileFailure("made", path, code: code)
        }
        try makePath(String(path[..<slash]))
        let (second, secondCode) = uninterrupted { mkdir(path, 0o700) }
        guard second == 0 || secondCode == EEXIST else { throw FileFailure("made", path, code: secondCode) }
    }

    package func makeFolder(_ path: String) throws(FileFailure) {
        let (answer, code) = uninterrupted { mkdirat(root, path, 0o700) }
        guard answer == 0 || code == EEXIST else { throw FileFailure("made", path, code: code) }
    }

    package func folder(_ path: String) throws(FileFailure) -> any FileSystem {
        try SystemFiles(directory.appending(path: path, directoryHint: .isDirectory))
    }

    package func create(_ path: String) throws(FileFailure) -> any OutputFile {
        let (number, code) = uninterrupted {
            openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard number >= 0 else { throw FileFailure("made", path, code: code) }
        return SystemOutput(number: number, path: path)
    }

    package func open(_ path: String) throws(FileFailure) -> any InputFile {
        try SystemInput(root: root, path: path)
    }

    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        let (answer, code) = uninterrupted { renameat(root, path, root, newPath) }
        guard answer == 0 else { throw FileFailure("renamed", path, code: code) }
    }

    package func remove(_ path: String) throws(FileFailure) {
        let (answer, code) = uninterrupted { unlinkat(root, path, 0) }
        guard answer == 0 || code == ENOENT else { throw FileFailure("removed", path, code: code) }
    }

    package func syncFolder(_ folder: String) throws(FileFailure) {
        let number = try openFolder(folder)
        defer { close(number) }
        let (answer, code) = synchronizeDescriptor(number)
        // Some file systems cannot bring a folder to the disk and say so; there is nothing more to be done there.
        guard answer == 0 || code == EINVAL else { throw FileFailure("synchronized", folder, code: code) }
    }

    package func url(of path: String) -> URL? { directory.appending(path: path) }

    package func list(_ folder: String) throws(FileFailure) -> [String] {
        let number = try openFolder(folder)
        guard let stream = fdopendir(number) else {
            let code = errno
            close(number)
            throw FileFailure("listed", folder, code: code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileFailure("listed", folder, code: errno) }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    private func openFolder(_ folder: String) throws(FileFailure) -> CInt {
        let path = folder.isEmpty ? "." : folder
        let (number, code) = uninterrupted { openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard number >= 0 else { throw FileFailure("listed", path, code: code) }
        return number
    }

    package func lock(_ path: String) throws(FileFailure) -> (any Sendable)? {
        let (number, code) = uninterrupted { openat(root, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard number >= 0 else { throw FileFailure("locked", path, code: code) }
        let lock = SystemLock(number: number)
        let (answer, lockCode) = uninterrupted { flock(number, LOCK_EX | LOCK_NB) }
        if answer == 0 { return lock }
        if lockCode == EWOULDBLOCK { return nil }
        throw FileFailure("locked", path, code: lockCode)
    }
}

/// A lock that lives as long as its descriptor, which a process that dies loses.
private final class SystemLock: Sendable {
    private let number: CInt
    init(number: CInt) { self.number = number }
    deinit {
        // A process that is just being started has the descriptor too, until its program begins; closing alone would leave the
        // lock with it.
        _ = flock(number, LOCK_UN)
        close(number)
    }
}
