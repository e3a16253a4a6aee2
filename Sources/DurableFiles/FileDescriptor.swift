import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import Synchronization

/// An open file or directory, closed at the latest when its last reference is released.
package final class FileDescriptor: DurableFile {
    /// -1 once it was closed.
    private let descriptor: Atomic<CInt>
    private let path: String

    /// Opens the file or directory at a path, which may be relative to a directory, with `O_CLOEXEC` beside the flags.
    ///
    /// - Parameter action: for messages, as a participle.
    package init(
        _ path: String, in directory: CInt = AT_FDCWD, flags: CInt, mode: mode_t = 0o600, for action: String
    ) throws(FileFailure) {
        let (number, code) = uninterrupted { openat(directory, path, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw FileFailure(action, path, code: code) }
        descriptor = Atomic(number)
        self.path = path
    }

    /// Opens a regular file for reading; the failure is ``FileFailure/isIrregular`` for a directory, a pipe or a device.
    package convenience init(
        reading path: String, in directory: CInt = AT_FDCWD, followsLinks: Bool = true
    ) throws(FileFailure) {
        // Opening a pipe would wait for its writer. In non-blocking mode it opens at once, and the check rejects it.
        try self.init(
            path, in: directory, flags: O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW), for: "opened")
        try requireRegularFile()
    }

    /// Opens a regular file for reading and writing.
    package convenience init(updating path: String, in directory: CInt) throws(FileFailure) {
        // Opening a pipe for both does not wait, and the check rejects it.
        try self.init(path, in: directory, flags: O_RDWR | O_NONBLOCK | O_NOFOLLOW, for: "opened")
        try requireRegularFile()
    }

    /// Creates a file for writing, and for reading too if `isRead`, which costs a little more; fails if the file exists.
    package convenience init(
        creating path: String, in directory: CInt = AT_FDCWD, mode: mode_t, isRead: Bool = false
    ) throws(FileFailure) {
        let access = isRead ? O_RDWR : O_WRONLY
        try self.init(path, in: directory, flags: access | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode, for: "made")
    }

    /// Opens a regular file for writing, and truncates it to `length` bytes if it is longer.
    package convenience init(
        reopening path: String, keeping length: Int64, in directory: CInt = AT_FDCWD
    ) throws(FileFailure) {
        try self.init(path, in: directory, flags: O_WRONLY | O_NONBLOCK | O_NOFOLLOW, for: "opened")
        try requireRegularFile()
        if try self.length() > length { try shorten(to: length) }
    }

    /// Rejects a directory, a pipe or a device.
    private func requireRegularFile() throws(FileFailure) {
        guard try status().st_mode & S_IFMT == S_IFREG else { throw FileFailure("opened", path, code: EISDIR) }
    }

    deinit { _ = end() }

    package var number: CInt { descriptor.load(ordering: .relaxed) }

    /// Hands the number over to a caller that closes it.
    package func release() -> CInt { descriptor.exchange(-1, ordering: .relaxed) }

    private func end() -> (answer: CInt, code: CInt) {
        let number = release()
        return number < 0 ? (0, 0) : (closeDescriptor(number), errno)
    }

    // MARK: Status

    private func status() throws(FileFailure) -> stat {
        var status = stat()
        try perform("examined", path) { fstat(number, &status) }
        return status
    }

    package func stamp() throws(FileFailure) -> FileStamp { FileStamp(try status()) }

    package func length() throws(FileFailure) -> Int64 { Int64(try status().st_size) }

    func mode() throws(FileFailure) -> mode_t { try status().st_mode & 0o777 }

    func setMode(_ mode: mode_t) throws(FileFailure) {
        try perform("shared", path) { fchmod(number, mode) }
    }

    /// Whether it was deleted while it was open.
    package var isDeleted: Bool {
        do throws(FileFailure) {
            let status = try status()
            #if canImport(Darwin)
                // The file system of Apple systems goes on to count the links of a folder that is gone.
                if status.st_mode & S_IFMT == S_IFDIR { return !isAtItsPath(status) }
            #endif
            return status.st_nlink == 0
        } catch {
            return error.isMissing
        }
    }

    #if canImport(Darwin)
        /// Whether the path that the system knows leads to this file; true if the system does not say.
        private func isAtItsPath(_ own: stat) -> Bool {
            var last: [CChar] = []
            while true {
                var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
                guard fcntl(number, F_GETPATH, &path) == 0 else { return errno != ENOENT }
                var found = stat()
                if stat(path, &found) == 0 {
                    if found.st_dev == own.st_dev, found.st_ino == own.st_ino { return true }
                } else if errno != ENOENT, errno != ENOTDIR {
                    return true
                }
                // If it was moved in between, its path is another one now.
                if path == last { return false }
                last = path
            }
        }
    #endif

    // MARK: Content

    package func read(_ count: Int, at offset: Int64) throws(FileFailure) -> Data {
        var bytes = Data(count: count)
        let number = number
        let (got, code) = bytes.withUnsafeMutableBytes { buffer in
            uninterrupted { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
        }
        guard got >= 0 else { throw FileFailure("read", path, code: code) }
        if got < count { bytes.count = got }
        return bytes
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFailure) {
        let number = number
        var written = 0
        while written < bytes.count, let start = bytes.baseAddress {
            let (count, code) = uninterrupted {
                pwrite(number, start + written, bytes.count - written, off_t(offset + Int64(written)))
            }
            guard count > 0 else { throw FileFailure("written", path, code: count == 0 ? ENOSPC : code) }
            written += count
        }
    }

    package func empty() throws(FileFailure) { try shorten(to: 0) }

    package func shorten(to length: Int64) throws(FileFailure) {
        try perform(length == 0 ? "emptied" : "shortened", path) { ftruncate(number, off_t(length)) }
    }

    package func sync() throws(FileFailure) {
        #if canImport(Darwin)
            // On Apple systems, `fsync` does not flush the drive's own cache. Some file systems do not support this call, so
            // `fsync` follows.
            if uninterrupted({ fcntl(number, F_FULLFSYNC) }).answer != -1 { return }
        #endif
        try perform("synchronized", path) { fsync(number) }
    }

    package func close() throws(FileFailure) {
        // Not repeated after a signal: the descriptor is closed, whatever the result.
        let (answer, code) = end()
        guard answer == 0 || code == EINTR else { throw FileFailure("closed", path, code: code) }
    }
}

/// A file's inode number, length and modification time, which show whether it has changed.
package struct FileStamp: Hashable, Sendable {
    /// The inode number, which differs from that of another file of the same name.
    private let number: UInt64
    package let length: Int64
    /// The modification time by the machine's clock.
    private let seconds: Int64
    private let nanoseconds: Int64

    fileprivate init(_ status: stat) {
        #if canImport(Darwin)
            let changed = status.st_mtimespec
        #else
            let changed = status.st_mtim
        #endif
        number = UInt64(status.st_ino)
        length = Int64(status.st_size)
        seconds = Int64(changed.tv_sec)
        nanoseconds = Int64(changed.tv_nsec)
    }
}

// MARK: - System calls

// Outside the class, whose method of the same name would hide the system call.
private func closeDescriptor(_ number: CInt) -> CInt { close(number) }

/// Makes a system call, repeats it while a signal interrupts it, and returns its result and `errno`, which counts only if the call failed.
package func uninterrupted<Answer: SignedInteger>(_ call: () -> Answer) -> (answer: Answer, code: CInt) {
    while true {
        let answer = call()
        let code = errno
        if answer != -1 || code != EINTR { return (answer, code) }
    }
}

/// Makes a system call that answers 0, or throws its error; the action is for messages, as a participle.
func perform(_ action: String, _ path: String, _ call: () -> CInt) throws(FileFailure) {
    let (answer, code) = uninterrupted(call)
    guard answer == 0 else { throw FileFailure(action, path, code: code) }
}

/// Writes all bytes to a descriptor, and returns `errno` if that failed.
@discardableResult
package func writeAll(_ bytes: [UInt8], to number: CInt) -> CInt? {
    bytes.withUnsafeBytes { buffer in
        var rest = buffer[...]
        while !rest.isEmpty {
            let (count, code) = uninterrupted {
                write(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            }
            if count < 0, code == EAGAIN {
                // Another process that shares the descriptor has made it non-blocking.
                var wait = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
                continue
            }
            guard count > 0 else { return code }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
