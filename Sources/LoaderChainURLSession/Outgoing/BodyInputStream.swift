#if canImport(FoundationNetworking)
    import Foundation
    import LoaderChain

    /// The bytes of a body as the session on Linux reads them: piece by piece, when the network has room for more.
    ///
    /// Such a session sends files too, but reads them ahead, and traps if one of its readings ends after the request was
    /// cancelled. It reads a stream on the queue that serves every other request, so this one never waits: its bytes come
    /// from memory or from files.
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
