import Foundation

/// Writes a body beside its destination, and puts it there once it is complete.
final class FileSink: ResponseSink {
    private let destination: URL
    private var file: TemporaryFile?
    private var length: Int64 = 0

    init(_ destination: URL) throws(SinkError) {
        guard destination.isFileURL, !destination.lastPathComponent.isEmpty else {
            throw .storage("The response is to go into a file, and its URL names none")
        }
        self.destination = destination
        // In the same directory, so that putting it in its place is one step that fails or succeeds.
        let name = ".\(destination.lastPathComponent.prefix(100)).\(UUID().uuidString).part"
        file = try TemporaryFile(at: destination.deletingLastPathComponent().appending(path: name), isPrivate: false)
    }

    func write(_ data: Data) throws(SinkError) {
        try file?.write(data, at: length)
        length += Int64(data.count)
    }

    func finish() throws(SinkError) -> DeliveredBody {
        try file?.move(to: destination)
        file = nil
        return .file(destination)
    }

    func discard() { file = nil }
}
