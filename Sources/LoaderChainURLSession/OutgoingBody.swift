import Foundation
import LoaderChain

/// A body in a form that the session can send without holding a file in memory.
struct OutgoingBody: Sendable {
    enum Source: Sendable {
        case none
        case data(Data)
        /// Bytes of a known length that the session reads as it needs them.
        case content(HTTPBodyContent, length: Int64)
        case file(URL)
    }

    let source: Source

    var hasBytes: Bool {
        if case .none = source { false } else { true }
    }

    /// Returns nil for a body that must be written to a file first.
    ///
    /// On all platforms that is a body with a stream, whose next piece may take any time; on Apple systems also a body of several segments.
    init?(_ content: HTTPBodyContent) {
        if content.length == 0 {
            source = .none
        } else if content.segments.count == 1, case .data(let data) = content.segments[0] {
            source = .data(data)
        } else {
            #if canImport(FoundationNetworking)
                let hasStream = content.segments.contains {
                    if case .stream = $0 { true } else { false }
                }
                guard let length = content.length, !hasStream else { return nil }
                source = .content(content, length: length)
            #else
                guard content.segments.count == 1, case .file(let slice) = content.segments[0], slice.isWholeFile else {
                    return nil
                }
                source = .file(slice.url)
            #endif
        }
    }
}

#if canImport(FoundationNetworking)
    extension OutgoingBody {
        /// A body of no bytes about which libcurl asks before it sends the request again.
        static let emptyStream = Self(.content(HTTPBodyContent.empty, length: 0))

        private init(_ source: Source) { self.source = source }
    }

    /// A stream that ends the transfer that reads it.
    final class FailingInputStream: InputStream {
        init() { super.init(data: Data()) }

        override func open() {}
        override var streamStatus: Stream.Status { .notOpen }
        override var hasBytesAvailable: Bool { true }
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int { -1 }
    }

    /// A body as a stream, which the session on Linux reads piece by piece when the network can take more.
    ///
    /// The session could send files itself, but it reads ahead, and traps if such a read ends after the request was cancelled. It
    /// reads streams on the queue that serves all other requests, so this stream must never block: its bytes come from memory or
    /// from files.
    final class BodyInputStream: InputStream {
        private var reader: HTTPBodyReader
        private var piece = Data()
        private var status = Stream.Status.notOpen
        private var failure: (any Error)?

        init(_ content: HTTPBodyContent) {
            reader = content.makeReader()
            super.init(data: Data())
        }

        override func open() { status = .open }
        override func close() { status = .closed }
        override var streamStatus: Stream.Status { status }
        override var streamError: (any Error)? { failure }
        override var hasBytesAvailable: Bool { status == .open }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
            guard status == .open, count > 0 else { return failure == nil ? 0 : -1 }
            do {
                if piece.isEmpty { piece = try reader.read(upTo: count) ?? Data() }
            } catch {
                failure = error
                status = .error
                return -1
            }
            if piece.isEmpty { status = .atEnd }
            let taken = piece.prefix(count)
            taken.copyBytes(to: buffer, count: taken.count)
            piece = piece.dropFirst(taken.count)
            return taken.count
        }
    }
#endif
