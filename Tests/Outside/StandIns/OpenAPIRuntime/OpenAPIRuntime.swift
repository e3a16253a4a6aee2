// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridges use of swift-openapi-runtime. Nothing runs.

import Foundation
import HTTPTypes

public protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

public protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?)
}

public enum IterationBehavior: Sendable { case single, multiple }

public final class HTTPBody: Sendable, Equatable {
    public enum Length: Sendable { case unknown, known(Int64) }
    public convenience init(_ data: Data) { fatalError() }
    public convenience init<Bytes: AsyncSequence>(
        _ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior
    ) where Bytes: Sendable, Bytes.Element: Sequence & Sendable, Bytes.Element.Element == UInt8 { fatalError() }
    public static func == (left: HTTPBody, right: HTTPBody) -> Bool { left === right }
}

extension Data {
    public init(collecting body: HTTPBody, upTo maxBytes: Int) async throws { fatalError() }
}
