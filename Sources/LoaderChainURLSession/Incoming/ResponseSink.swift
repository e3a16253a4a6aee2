import Foundation

/// Where the body of a response goes.
protocol ResponseSink: AnyObject {
    /// Takes the next bytes.
    func write(_ data: Data) throws(SinkError)
    /// Hears that this was all, and answers where it is now.
    func finish() throws(SinkError) -> DeliveredBody
    /// Hears that the rest will never come, and leaves nothing behind.
    func discard()
}

/// Where a complete body is.
enum DeliveredBody {
    case nothing
    case data(Data)
    case file(URL)
}

/// Why a body could not be taken.
enum SinkError: Error {
    /// It has more bytes than allowed; how many, if the server said it.
    case tooLarge(announced: Int64?, limit: Int)
    /// It could not be written; why, as a sentence.
    case storage(String)
}

/// For the body of a redirect that is followed.
final class IgnoringSink: ResponseSink {
    func write(_ data: Data) {}
    func finish() -> DeliveredBody { .nothing }
    func discard() {}
}

/// Collects a body up to a limit.
final class MemorySink: ResponseSink {
    /// The most that is set aside because of an announcement, which need not be true.
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
