// Incoming: the body of a response on its way into memory, into a file, or to its reader. It uses no other folder.

import Foundation

/// Where the body of a response goes.
protocol ResponseSink: AnyObject {
    /// Appends the next bytes.
    func write(_ data: Data) throws(SinkError)
    /// Completes the body, and returns where it is.
    func finish() throws(SinkError) -> DeliveredBody
    /// Removes what was written, because the rest will never arrive.
    func discard()
}

/// Where a complete body is.
enum DeliveredBody {
    case nothing
    case data(Data)
    case file(URL)
}

/// Why a body could not be stored.
enum SinkError: Error {
    /// The body is larger than the limit; `announced` is its size, if the server announced it.
    case tooLarge(announced: Int64?, limit: Int)
    /// The body could not be written; the reason is a whole sentence.
    case storage(String)
}

/// Drops the body of a redirect that is followed.
final class IgnoringSink: ResponseSink {
    func write(_ data: Data) {}
    func finish() -> DeliveredBody { .nothing }
    func discard() {}
}

/// Collects a body up to a limit.
final class MemorySink: ResponseSink {
    /// The most that is reserved for an announced length, which need not be true.
    private static let trustedAnnouncement = 1 << 20

    private let limit: Int
    private var data = Data()

    init(limit: Int, announced: Int) {
        self.limit = limit
        if announced > 0 { data.reserveCapacity(min(announced, Self.trustedAnnouncement)) }
    }

    func write(_ more: Data) throws(SinkError) {
        guard more.count <= limit - data.count else { throw .tooLarge(announced: nil, limit: limit) }
        data.append(more)
    }

    func finish() -> DeliveredBody { .data(data) }

    func discard() { data = Data() }
}
