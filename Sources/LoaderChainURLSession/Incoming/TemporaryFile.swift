import Foundation
import LoaderChain

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file that this process makes, writes and gives up again.
///
/// Writing never traps, whatever the disk says.
final class TemporaryFile {
    let url: URL
    private let number: CInt
    private var isThere = true

    /// Makes a new file at `url`, readable as the process's mask has it or by its owner alone.
    init(at url: URL, isPrivate: Bool) throws(SinkError) {
        self.url = url
        let path = url.path(percentEncoded: false)
        let (number, code) = uninterrupted {
            open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(isPrivate ? 0o600 : 0o666))
        }
        guard number >= 0 else { throw Self.failure("made", url, code) }
        self.number = number
    }

    /// Makes a file in the system's temporary directory, for its owner alone.
    convenience init(_ purpose: String) throws(SinkError) {
        let name = "LoaderChain-\(UUID().uuidString).\(purpose)"
        try self.init(at: FileManager.default.temporaryDirectory.appending(path: name), isPrivate: true)
    }

    deinit {
        remove()
        close(number)
    }

    /// Takes its name away; it lasts as long as this object, and not even a crash leaves it behind.
    func remove() {
        if isThere { Self.remove(url) }
        isThere = false
    }

    /// Lets the file stay where it is.
    func keep() { isThere = false }

    static func remove(_ url: URL) { unlink(url.path(percentEncoded: false)) }

    /// Puts the file in the place of another.
    func move(to destination: URL) throws(SinkError) {
        let (answer, code) = uninterrupted {
            rename(url.path(percentEncoded: false), destination.path(percentEncoded: false))
        }
        guard answer == 0 else { throw Self.failure("put in its place", destination, code) }
        keep()
    }

    func write(_ data: Data, at offset: Int64) throws(SinkError) {
        var written = 0
        while written < data.count {
            let (count, code) = data.withUnsafeBytes { bytes in
                uninterrupted {
                    pwrite(number, bytes.baseAddress! + written, bytes.count - written, off_t(offset) + off_t(written))
                }
            }
            guard count > 0 else { throw Self.failure("written", url, code) }
            written += count
        }
    }

    /// At most `count` bytes from `offset` on.
    func read(_ count: Int, at offset: Int64) throws(SinkError) -> Data {
        var data = Data(count: count)
        let (got, code) = data.withUnsafeMutableBytes { bytes in
            uninterrupted { pread(number, bytes.baseAddress, bytes.count, off_t(offset)) }
        }
        guard got > 0 else { throw Self.failure("read", url, code) }
        data.count = got
        return data
    }

    /// Gives the disk back what was written.
    func empty() { _ = uninterrupted { ftruncate(number, 0) } }

    private static func failure(_ what: String, _ url: URL, _ code: CInt) -> SinkError {
        let cause =
            switch code {
            case ENOENT, ENOTDIR: "there is no such directory"
            case EACCES, EPERM, EROFS: "permission is denied"
            case ENOSPC, EDQUOT: "the disk is full"
            case EISDIR: "there is a directory in its place"
            default: "system error \(code)"
            }
        return .storage("The file \(url.path(percentEncoded: false)) could not be \(what): \(cause)")
    }
}
