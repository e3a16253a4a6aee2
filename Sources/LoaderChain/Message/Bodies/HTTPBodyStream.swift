import LoaderChainPlatformFoundation

/// Bytes that are made while they are sent, for one reader only.
public struct HTTPBodyStream: Sendable {
    /// The number of bytes; nil if it is unknown.
    public let length: Int64?

    private let pull: @Sendable () throws -> Data?
    private let reading = OneShot()

    /// Makes a stream that calls `next` for each piece, until it returns nil.
    ///
    /// The calls come one after the other, on the thread that sends the body. Empty pieces are skipped. An error that
    /// `next` throws ends the body, and is passed to the reader unchanged.
    public init(length: Int64? = nil, next: @escaping @Sendable () throws -> Data?) {
        self.length = length
        pull = next
    }

    /// Claims the stream for its only reader; throws on a second call.
    func open() throws(HTTPBodyError) {
        guard reading.take() else {
            throw HTTPBodyError(
                "The stream of this body has been read already, and its bytes are gone; make a new body.",
                code: .alreadyRead)
        }
    }

    /// The next piece that has bytes, or nil at the end.
    func next() throws -> Data? {
        while let piece = try pull() {
            if !piece.isEmpty { return piece.rebased }
        }
        return nil
    }
}
