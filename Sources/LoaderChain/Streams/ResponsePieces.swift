import LoaderChainPlatformFoundation

/// The body of a response in pieces, however it was delivered.
struct ResponsePieces: Sendable {
    private enum Source {
        case chunks(ResponseChunks.Iterator)
        case stored(HTTPBodyReader)
        case unreadable(HTTPBodyError)
    }

    private static let size = 64 * 1024

    private var source: Source

    init(_ response: HTTPResponse) {
        if let chunks = response.chunks {
            source = .chunks(chunks.makeAsyncIterator())
        } else {
            do throws(HTTPBodyError) {
                let content = try response.file.map(HTTPBodyContent.file) ?? .data(response.body)
                source = .stored(content.makeReader())
            } catch {
                source = .unreadable(error)
            }
        }
    }

    /// The next piece, or nil at the end.
    mutating func next() async throws -> Data? {
        switch source {
        case .chunks(var chunks):
            return try await chunks.next()
        case .stored(var reader):
            let piece = try reader.read(upTo: Self.size)
            source = .stored(reader)
            return piece
        case .unreadable(let error):
            throw error
        }
    }
}
