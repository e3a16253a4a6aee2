import LoaderChainPlatformFoundation

/// The values of a body that has one JSON value on each line, as they arrive.
///
/// The format is known as NDJSON and as JSON Lines.
///
/// ```swift
/// nonisolated struct Tick: Decodable, Sendable { var price: Double }
///
/// var request = HTTPRequest(url: url)
/// request.delivery = .chunks
/// for try await tick in try await chain.load(request).values(as: Tick.self) { print(tick.price) }
/// ```
///
/// Lines of nothing but blanks are skipped. A line that is no such value throws an ``HTTPError/Code/cannotDecodeResponse`` that says
/// which line it is; the iterator may be asked for the values that follow.
public struct ResponseValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// A value of a line.
    public typealias Element = Value

    let lines: ResponseLines
    let decoder: JSONDecoder

    /// Makes an iterator, which begins where the last piece of the body ended that was read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(response: lines.response, lines: lines.makeAsyncIterator(), decoder: decoder)
    }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let response: HTTPResponse
        fileprivate var lines: ResponseLines.Iterator
        fileprivate let decoder: JSONDecoder
        private var number = 0

        fileprivate init(response: HTTPResponse, lines: ResponseLines.Iterator, decoder: JSONDecoder) {
            self.response = response
            self.lines = lines
            self.decoder = decoder
        }

        /// The next value, or nil at the end.
        public mutating func next() async throws -> Value? { try await next(isolation: nil) }

        /// The next value, or nil at the end.
        ///
        /// A loop calls this. An actor that reads, such as the main actor, is only left where bytes have to be waited for.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            while let line = try await lines.nextBytes(isolation: actor) {
                number += 1
                if line.allSatisfy(ASCII.isBlank) { continue }
                do {
                    return try decoder.decode(Value.self, from: Data(line))
                } catch {
                    throw HTTPError.undecodable(
                        "Line \(number) of the body, of \(line.count) bytes,", as: Value.self, of: response.head, error)
                }
            }
            return nil
        }
    }
}

extension HTTPResponse {
    /// The values of a body with one JSON value on each line of at most `limit` bytes; a megabyte by default.
    public func values<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder(), upTo limit: Int = 1 << 20
    ) -> ResponseValues<Value> {
        ResponseValues(lines: lines(upTo: limit), decoder: decoder)
    }
}
