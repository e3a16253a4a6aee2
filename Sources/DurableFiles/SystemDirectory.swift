import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// A directory of the file system, which only this user can access.
///
/// All access goes through a descriptor of the directory. So no call resolves the whole path, and the directory can be moved while
/// it is in use.
package final class SystemDirectory: Directory {
    private let root: FileDescriptor
    private let openedAt: URL

    /// Opens a directory, and creates it if it is missing.
    package convenience init(_ directory: URL) throws(FileFailure) {
        try Self.makePath(try Self.path(directory))
        try self.init(existing: directory)
    }

    package init(existing directory: URL) throws(FileFailure) {
        root = try FileDescriptor(try Self.path(directory), flags: O_RDONLY | O_DIRECTORY, for: "opened")
        openedAt = directory
    }

    private init(root: FileDescriptor, openedAt: URL) {
        self.root = root
        self.openedAt = openedAt
    }

    private static func path(_ directory: URL) throws(FileFailure) -> String {
        let path = directory.path(percentEncoded: false)
        guard directory.isFileURL, !path.utf8.contains(0) else {
            throw FileFailure("opened", directory.absoluteString, code: ENOENT)
        }
        return path
    }

    /// Creates a directory and its missing parents.
    private static func makePath(_ path: String) throws(FileFailure) {
        do throws(FileFailure) {
            try make(path) { mkdir(path, 0o700) }
        } catch {
            guard error.isMissing, let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex else {
                throw error
            }
            try makePath(String(path[..<slash]))
            try make(path) { mkdir(path, 0o700) }
        }
    }

    /// Creates a directory, unless it exists.
    private static func make(_ path: String, _ call: () -> CInt) throws(FileFailure) {
        let (answer, code) = uninterrupted(call)
        guard answer == 0 || code == EEXIST else { throw FileFailure("made", path, code: code) }
    }

    /// Performs an operation in the directory, and marks a failure whose cause is that the directory was deleted.
    private func doing<Result>(_ body: () throws(FileFailure) -> Result) throws(FileFailure) -> Result {
        do throws(FileFailure) {
            return try body()
        } catch {
            var failure = error
            failure.isWithoutDirectory = failure.isMissing && root.isDeleted
            throw failure
        }
    }

    // MARK: Folders

    package func makeFolder(_ path: String) throws(FileFailure) {
        try doing { () throws(FileFailure) in try Self.make(path) { mkdirat(root.number, path, 0o700) } }
    }

    package func folder(_ path: String) throws(FileFailure) -> any Directory {
        try makeFolder(path)
        return SystemDirectory(root: try openFolder(path, for: "opened"), openedAt: openedAt.appending(path: path))
    }

    private func openFolder(_ folder: String, for action: String) throws(FileFailure) -> FileDescriptor {
        try FileDescriptor(folder.isEmpty ? "." : folder, in: root.number, flags: O_RDONLY | O_DIRECTORY, for: action)
    }

    package func list(_ folder: String) throws(FileFailure) -> [String] {
        let opened = try openFolder(folder, for: "listed")
        guard let stream = fdopendir(opened.number) else { throw FileFailure("listed", folder, code: errno) }
        _ = opened.release()
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

    package func syncFolder(_ folder: String) throws(FileFailure) {
        do throws(FileFailure) {
            try doing { () throws(FileFailure) in
                let opened = try openFolder(folder, for: "synchronized")
                if opened.isDeleted { throw FileFailure("synchronized", folder, code: ENOENT) }
                try opened.sync()
            }
        } catch {
            // Some file systems report that they cannot flush a folder; there is nothing more to do.
            guard error.code == EINVAL else { throw error }
        }
    }

    // MARK: Files

    package func create(_ path: String) throws(FileFailure) -> any DurableFile {
        try doing { () throws(FileFailure) in try FileDescriptor(creating: path, in: root.number, mode: 0o600) }
    }

    package func reopen(_ path: String, keeping length: Int64) throws(FileFailure) -> any DurableFile {
        try doing { () throws(FileFailure) in try FileDescriptor(reopening: path, keeping: length, in: root.number) }
    }

    package func open(_ path: String) throws(FileFailure) -> any DurableFile {
        try doing { () throws(FileFailure) in try FileDescriptor(reading: path, in: root.number, followsLinks: false) }
    }

    package func update(_ path: String) throws(FileFailure) -> any DurableFile {
        try doing { () throws(FileFailure) in try FileDescriptor(updating: path, in: root.number) }
    }

    package func share(_ path: String) throws(FileFailure) {
        try doing { () throws(FileFailure) in
            // The mask can only be read by changing it, which would affect every thread of the process. A new file reveals it as
            // well.
            let probe = path + ".mode"
            try remove(probe)
            let mode = try FileDescriptor(creating: probe, in: root.number, mode: 0o666).mode()
            try remove(probe)
            try FileDescriptor(updating: path, in: root.number).setMode(mode)
        }
    }

    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try doing { () throws(FileFailure) in
            try perform("renamed", path) { renameat(root.number, path, root.number, newPath) }
        }
    }

    package func remove(_ path: String) throws(FileFailure) {
        do throws(FileFailure) {
            try perform("removed", path) { unlinkat(root.number, path, 0) }
        } catch {
            if !error.isMissing { throw error }
        }
    }

    package func lock(_ path: String) throws(FileFailure) -> (any Sendable)? {
        var failures = 0
        while true {
            let file: FileDescriptor
            do throws(FileFailure) {
                file = try doing { () throws(FileFailure) in
                    try FileDescriptor(path, in: root.number, flags: O_RDWR | O_CREAT | O_NOFOLLOW, for: "locked")
                }
            } catch {
                failures += 1
                // An Apple system may tell two callers that create a file at once that it is missing.
                if error.isMissing, !error.isWithoutDirectory, failures < 100 { continue }
                throw error
            }
            do throws(FileFailure) {
                try perform("locked", path) { flock(file.number, LOCK_EX | LOCK_NB) }
            } catch {
                if error.code == EWOULDBLOCK { return nil }
                throw error
            }
            // If the last holder has removed the file in between, the lock of this name is another file, so try again.
            if !file.isDeleted { return FileLock(file) }
        }
    }

    // MARK: Protection

    /// Makes the files that are created in a folder from now on unreadable until the device was unlocked once since it started,
    /// and excludes the folder from backups.
    ///
    /// A volume that does not support these attributes is used without them. On other systems than Apple's this does nothing.
    package static func protect(_ folder: URL) {
        #if canImport(Darwin)
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? folder.setResourceValues(values)
            #if !os(macOS)
                try? FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                    ofItemAtPath: folder.path(percentEncoded: false))
            #endif
        #endif
    }

    // MARK: Location

    package func url(of path: String) -> URL? { location.appending(path: path) }

    /// The current location of the directory, or the location where it was opened if the system does not know.
    private var location: URL {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        #if canImport(Darwin)
            let isKnown = fcntl(root.number, F_GETPATH, &bytes) == 0
        #else
            let isKnown = readlink("/proc/self/fd/\(root.number)", &bytes, bytes.count - 1) > 0
        #endif
        let path = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard isKnown, let path = String(validating: path, as: UTF8.self) else { return openedAt }
        return URL(filePath: path, directoryHint: .isDirectory)
    }
}

/// A lock that lasts while its file is open; the system releases it when the process ends.
private final class FileLock: Sendable {
    private let file: FileDescriptor

    init(_ file: FileDescriptor) { self.file = file }

    // A child process that is being started has the descriptor too, until its program begins. If the file were only closed, the
    // child would still hold the lock.
    deinit { _ = flock(file.number, LOCK_UN) }
}
