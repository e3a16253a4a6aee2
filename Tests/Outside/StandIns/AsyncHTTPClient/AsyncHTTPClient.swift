// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to AsyncHTTPClient uses of it. Nothing runs.

import NIOCore
import NIOHTTP1

public final class HTTPClient: Sendable {
    public static var shared: HTTPClient { fatalError() }
    public func execute(_ request: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
        fatalError()
    }
}

public struct HTTPClientRequest: Sendable {
    public struct Body: Sendable {
        public struct Length: Sendable {
            public static let unknown = Length()
            public static func known(_ count: Int64) -> Length { Length() }
        }
        public static func bytes(_ buffer: ByteBuffer) -> Body { Body() }
        public static func stream<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Length) -> Body
        where Pieces.Element == ByteBuffer { Body() }
    }
    public var method: HTTPMethod
    public var headers: HTTPHeaders
    public var body: Body?
    public init(url: String) { fatalError() }
}

public struct HTTPClientResponse: Sendable {
    public struct Body: AsyncSequence, Sendable {
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> ByteBuffer? { fatalError() }
        }
        public func makeAsyncIterator() -> AsyncIterator { fatalError() }
        public func collect(upTo maxBytes: Int) async throws -> ByteBuffer { fatalError() }
    }
    public var status: HTTPResponseStatus
    public var headers: HTTPHeaders
    public var body: Body
}

@available(*, unavailable)
extension HTTPClientResponse.Body.AsyncIterator: Sendable {}

public struct HTTPClientError: Error, Equatable {
    private var name: String
    public static let readTimeout = Self(name: "readTimeout")
    public static let writeTimeout = Self(name: "writeTimeout")
    public static let connectTimeout = Self(name: "connectTimeout")
    public static let tlsHandshakeTimeout = Self(name: "tlsHandshakeTimeout")
    public static let getConnectionFromPoolTimeout = Self(name: "getConnectionFromPoolTimeout")
    public static let redirectLimitReached = Self(name: "redirectLimitReached")
    public static let redirectCycleDetected = Self(name: "redirectCycleDetected")
}
