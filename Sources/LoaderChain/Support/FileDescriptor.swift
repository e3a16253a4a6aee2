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

/// An open file to read from, closed when the last reference goes.
///
/// It has no position of its own: each read says where, so readers that share one do not disturb each other.
final class FileDescriptor: Sendable {
    private let url: URL
    private let number: CInt

    /// Opens the regular file at `url`.
    init(reading url: URL) throws(HTTPBodyError) {
        let path = url.path(percentEncoded: false)
        guard url.isFileURL, !path.utf8.contains(ASCII.nul) else {
            throw HTTPBodyError(
                "“\(ASCII.printable(url.absoluteString))” does not name a file; give a file URL, with a path on the disk."
            )
        }
        self.url = url
        // Opening a pipe would wait for its writer; without blocking it opens, and is refused below for what it is.
        let (number, code) = uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard number >= 0 else { throw .file(url, "cannot be opened", code) }
        self.number = number
    }

    deinit { close(number) }

    /// What the file is like at this moment.
    func stamp() throws(HTTPBodyError) -> FileStamp {
        var status = stat()
        let (answer, code) = uninterrupted { fstat(number, &status) }
        guard answer == 0 else { throw .file(url, "cannot be examined", code) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw HTTPBodyError("\(HTTPBodyError.name(url)) is not a regular file; give a file that has a length.")
        }
        return FileStamp(status)
    }

    /// The bytes from `offset` on, at most `count`: none at the file's end.
    func read(_ count: Int, at offset: Int64) throws(HTTPBodyError) -> Data {
        var bytes = Data(count: count)
        let (got, code) = bytes.withUnsafeMutableBytes { buffer in
            uninterrupted { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
        }
        guard got >= 0 else { throw .file(url, "cannot be read", code) }
        bytes.count = got
        return bytes
    }
}

/// What tells that a file has changed: its length and the time of its last change.
struct FileStamp: Hashable, Sendable {
    let length: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    fileprivate init(_ status: stat) {
        #if canImport(Darwin)
            let changed = status.st_mtimespec
        #else
            let changed = status.st_mtim
        #endif
        length = Int64(status.st_size)
        seconds = Int64(changed.tv_sec)
        nanoseconds = Int64(changed.tv_nsec)
    }
}

extension HTTPBodyError {
    /// A file by its path, as a sentence begins with it.
    static func name(_ url: URL) -> String {
        "The file “\(ASCII.printable(url.path(percentEncoded: false)))”"
    }

    fileprivate static func file(_ url: URL, _ failing: String, _ code: CInt) -> HTTPBodyError {
        let (cause, advice) =
            switch code {
            case ENOENT, ENOTDIR: ("there is none", "check the path, and that nothing removed it")
            case EACCES, EPERM: ("permission is denied", "grant this process permission to read it")
            case EMFILE, ENFILE: ("too many files are open", "send fewer bodies at once")
            case EISDIR: ("it is a directory", "give a file")
            default: ("system error \(code)", "check the disk that holds it")
            }
        return HTTPBodyError("\(name(url)) \(failing): \(cause); \(advice).")
    }
}
