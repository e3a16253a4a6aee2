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
    package convenience init(existing directory: URL) throws(FileFailure) {
        let path = try Self.path(directory)
        let (root, code) = uninterrupted { openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard root >= 0 else { throw FileFailure("opened", path, code: code) }
        self.init(root: root, openedAs: directory)
    }

    private init(root: CInt, openedAs directory: URL) {
        self.root = root
        self.directory = directory
    }

    deinit { close(root) }

    /// The failure of something in the directory, which may itself be what is missing.
    private func failure(_ action: String, _ path: String, _ code: CInt) -> FileFailure {
        var failure = FileFailure(action, path, code: code)
        failure.isWithoutDirectory = failure.isMissing && isDeleted
        return failure
    }

    /// Whether the directory has no name any more.
    private var isDeleted: Bool {
        var status = stat()
        return uninterrupted { fstat(root, &status) }.answer == 0 && status.st_nlink == 0
    }

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
        guard answer == 0 || code == EEXIST else { throw failure("made", path, code) }
    }

    package func folder(_ path: String) throws(FileFailure) -> any FileSystem {
        try makeFolder(path)
        return SystemFiles(root: try openFolder(path), openedAs: directory.appending(path: path))
    }

    package func create(_ path: String) throws(FileFailure) -> any OutputFile {
        let (number, code) = uninterrupted {
            openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard number >= 0 else { throw failure("made", path, code) }
        return SystemOutput(number: number, path: path)
    }

    package func open(_ path: String) throws(FileFailure) -> any InputFile {
        do throws(FileFailure) {
            return try SystemInput(root: root, path: path)
        } catch {
            throw failure(error.action, path, error.code)
        }
    }

    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        let (answer, code) = uninterrupted { renameat(root, path, root, newPath) }
        guard answer == 0 else { throw failure("renamed", path, code) }
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

    package func url(of path: String) -> URL? { place.appending(path: path) }

    /// Where the directory is by now: where it was opened, unless the system knows better.
    private var place: URL {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        #if canImport(Darwin)
            let isKnown = fcntl(root, F_GETPATH, &bytes) == 0
        #else
            let isKnown = readlink("/proc/self/fd/\(root)", &bytes, bytes.count - 1) > 0
        #endif
        let path = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard isKnown, let path = String(validating: path, as: UTF8.self) else { return directory }
        return URL(filePath: path, directoryHint: .isDirectory)
    }

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
        guard number >= 0 else { throw failure("locked", path, code) }
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
