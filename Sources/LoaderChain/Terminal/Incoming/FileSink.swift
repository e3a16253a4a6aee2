import LoaderChainPlatformFoundation

/// Writes a body to a file beside its destination, and moves it into place once it is complete.
package final class FileSink: ResponseSink {
    private let destination: URL
    private var file: TemporaryFile?
    private var length: Int64 = 0

    package init(_ destination: URL) throws(SinkError) {
        guard destination.isFileURL, !destination.lastPathComponent.isEmpty else {
            throw .storage("The response is to be delivered in a file, and the URL names none")
        }
        self.destination = destination
        // In the same directory, so that moving it into place is one atomic step.
        let name = ".\(destination.lastPathComponent.prefix(100)).\(UUID().uuidString).part"
        file = try TemporaryFile(at: destination.deletingLastPathComponent().appending(path: name), isPrivate: false)
    }

    package func write(_ data: Data) throws(SinkError) {
        try file?.write(data, at: length)
        length += Int64(data.count)
    }

    package func finish() throws(SinkError) -> DeliveredBody {
        try file?.move(to: destination)
        file = nil
        return .file(destination)
    }

    package func discard() { file = nil }
}
