import LoaderChainPlatformFoundation

package protocol ResponseSink: AnyObject {
    func write(_ data: Data) throws(SinkError)
    func finish() throws(SinkError) -> DeliveredBody
    /// Removes what was written, because the rest will never arrive.
    func discard()
}

package enum DeliveredBody {
    case nothing
    case data(Data)
    case file(URL)
}

package enum SinkError: Error {
    /// The body is larger than the limit; `announced` is its size, if the server announced it.
    case tooLarge(announced: Int64?, limit: Int)
    /// The body could not be written; the reason is a whole sentence.
    case storage(String)
}

/// Collects a body up to a limit.
package final class MemorySink: ResponseSink {
    /// The most that is reserved for an announced length, which need not be true.
    private static let trustedAnnouncement = 1 << 20

    private let limit: Int
    private let announced: Int
    private var data = Data()

    package init(limit: Int, announced: Int) {
        self.limit = limit
        self.announced = announced
    }

    package func write(_ more: Data) throws(SinkError) {
        guard more.count <= limit - data.count else { throw .tooLarge(announced: nil, limit: limit) }
        if data.isEmpty {
            // A body that comes in one piece is kept as it is.
            guard more.count < announced else { return data = more }
            data.reserveCapacity(min(announced, Self.trustedAnnouncement))
        }
        data.append(more)
    }

    package func finish() -> DeliveredBody { .data(data) }

    package func discard() { data = Data() }
}

/// Where the body of a response goes, as its request asks; `limit` is the most bytes in memory if the request sets no limit of its own.
///
/// `announced` is the number of bytes that will arrive, nil if the head does not say; `makePipe` is for a body in chunks.
package func makeSink(
    for response: HTTPResponse, delivery: ResponseDelivery, limit: Int, announced: Int64?, makePipe: () -> ChunkPipe
) throws(SinkError) -> any ResponseSink {
    var limit = limit
    switch delivery {
    case .inMemory(let own): limit = max(0, own ?? limit)
    case .file(let url) where response.status.isSuccess: return try FileSink(url)
    case .file: break  // The body of any other response explains an error.
    case .chunks: return makePipe()
    }
    let announced = announced ?? 0
    if announced > limit { throw .tooLarge(announced: announced, limit: limit) }
    return MemorySink(limit: limit, announced: Int(announced))
}

/// Writes a body to a file beside its destination, and moves it into place once it is complete.
package final class FileSink: ResponseSink {
    private let destination: URL
    private var file: TemporaryFile?
    private var length: Int64 = 0

    package init(_ destination: URL) throws(SinkError) {
        guard destination.isFileURL, !destination.lastPathComponent.isEmpty else {
            throw .storage("The response must be delivered in a file, but the URL does not name a file")
        }
        self.destination = destination
        // In the same directory, so that moving it into place is one atomic step.
        let name = ".\(UUID().uuidString).part"
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
