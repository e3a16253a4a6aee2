import DurableFiles
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// A file that this process creates and removes again, unless it keeps it; writing never traps, whatever the disk does.
package final class TemporaryFile {
    package let url: URL
    private let file: FileDescriptor
    private var isNamed = true

    /// Creates a file at `url`, readable as the process's mask has it or by its owner alone.
    package init(at url: URL, isPrivate: Bool) throws(SinkError) {
        self.url = url
        file = try Self.doing(url) { () throws(FileFailure) in
            try FileDescriptor(creating: url.path(percentEncoded: false), mode: isPrivate ? 0o600 : 0o666, isRead: true)
        }
    }

    /// Creates a file in the system's temporary directory, for its owner alone.
    package convenience init(_ purpose: String) throws(SinkError) {
        let name = "LoaderChain-\(UUID().uuidString).\(purpose)"
        try self.init(at: FileManager.default.temporaryDirectory.appending(path: name), isPrivate: true)
    }

    deinit { remove() }

    /// Removes the file's name; the file lasts as long as this object, and not even a crash leaves it behind.
    package func remove() {
        if isNamed { Self.remove(url) }
        isNamed = false
    }

    /// Lets the file stay where it is.
    package func keep() { isNamed = false }

    package static func remove(_ url: URL) { unlink(url.path(percentEncoded: false)) }

    /// Renames the file, and replaces one that has the new name.
    package func move(to destination: URL) throws(SinkError) {
        let (answer, code) = uninterrupted {
            rename(url.path(percentEncoded: false), destination.path(percentEncoded: false))
        }
        guard answer == 0 else { throw Self.failure(destination, FileFailure("put in its place", "", code: code)) }
        keep()
    }

    package func write(_ data: Data, at offset: Int64) throws(SinkError) {
        try Self.doing(url) { () throws(FileFailure) in try file.write(data, at: offset) }
    }

    /// Reads at most `count` bytes from `offset` on, and fails if there are none.
    package func read(_ count: Int, at offset: Int64) throws(SinkError) -> Data {
        let data = try Self.doing(url) { () throws(FileFailure) in try file.read(count, at: offset) }
        guard !data.isEmpty else { throw Self.failure(url, FileFailure("read", "", code: 0)) }
        return data
    }

    /// Returns the file's space to the disk.
    package func empty() { try? file.empty() }

    private static func doing<Result>(
        _ url: URL, _ body: () throws(FileFailure) -> Result
    ) throws(SinkError) -> Result {
        do throws(FileFailure) { return try body() } catch { throw failure(url, error) }
    }

    private static func failure(_ url: URL, _ failure: FileFailure) -> SinkError {
        .storage("The file \(url.path(percentEncoded: false)) could not be \(failure.action): \(failure.cause)")
    }
}

/// Writes a body into a temporary file, piece by piece.
package enum AssembledBody {
    private static let portion = 256 << 10

    /// Writes the file; returns nil, and leaves nothing behind, if it was stopped meanwhile.
    package static func write(_ content: HTTPBodyContent, isStopped: () -> Bool) throws -> URL? {
        let file = try TemporaryFile("body")
        var reader = content.makeReader()
        var length: Int64 = 0
        while let piece = try reader.read(upTo: portion) {
            if isStopped() { return nil }
            try file.write(piece, at: length)
            length += Int64(piece.count)
        }
        file.keep()
        return file.url
    }
}
