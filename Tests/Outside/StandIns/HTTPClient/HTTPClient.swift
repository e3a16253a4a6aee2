// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to the HTTP API proposal uses of it, and of what it exports. Nothing runs.

import BasicContainers
import Foundation
@_exported import HTTPTypes

public enum EitherError<First: Error, Second: Error>: Error {
    case first(First), second(Second)
}

public struct AsyncReaderLeftOverElementsError: Error {}

public struct HTTPRequestOptions: Sendable {}

public struct HTTPClientRequestBody<Writer: ~Copyable>: Sendable {
    public static func data(_ data: Data) -> Self { Self() }
}

@available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *)
public final class DefaultHTTPClient: Sendable {
    public struct Writer: ~Copyable {}
    public struct Reader: ~Copyable {
        public consuming func collect(
            into target: inout UniqueArray<UInt8>, maximumSize: Int
        ) async throws(EitherError<any Error, AsyncReaderLeftOverElementsError>) -> HTTPFields? { fatalError() }
    }
    public static var shared: DefaultHTTPClient { fatalError() }
    public var defaultRequestOptions: HTTPRequestOptions { HTTPRequestOptions() }
    public func perform<Return: ~Copyable>(
        request: HTTPRequest, body: consuming HTTPClientRequestBody<Writer>?, options: HTTPRequestOptions,
        responseHandler: (HTTPResponse, consuming Reader) async throws -> Return
    ) async throws -> Return { fatalError() }
}
