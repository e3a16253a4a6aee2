#if canImport(FoundationNetworking)
    import Foundation
    import LoaderChain

    /// A body as a stream, which the session on Linux reads piece by piece, when the network has room for more.
    ///
    /// The session could send files itself, but it reads ahead, and traps if such a read ends after the request was
    /// cancelled. It reads streams on the queue that serves all other requests, so this stream must never block: its bytes
    /// come from memory or from files.
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
