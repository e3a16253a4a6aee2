#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Bytes that are made while they are sent, and that only one reader gets.
public struct HTTPBodyStream: Sendable {
    /// How many bytes will come, or nil where that is not known.
    public let length: Int64?

    private let pull: @Sendable () throws -> Data?
    private let reading = OneShot()

    /// A stream that calls `next` for each piece, until it answers nil.
    ///
    /// The calls come one after the other, from whichever thread sends the body. An empty piece is passed over. What
    /// `next` throws ends the body, and reaches whoever reads it as it is.
    public init(length: Int64? = nil, next: @escaping @Sendable () throws -> Data?) {
        self.length = length
        pull = next
    }

    /// The right to pull, given once.
    func open() throws(HTTPBodyError) {
        guard reading.take() else {
            throw HTTPBodyError(
                "The stream of this body has been read already, and its bytes are gone; make a new body.")
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
