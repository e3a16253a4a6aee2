#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a server answered.
public struct HTTPResponse: Sendable {
    /// The request as it was sent.
    public var request: HTTPRequest
    /// The status; one that says failure makes no error by itself.
    public var status: HTTPStatus
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty where there was none.
    public var body: Data

    /// Makes a response, as a terminal or a test does.
    public init(request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.request = request
        self.status = status
        self.headers = headers
        self.body = body
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status and the size of the body; nothing that could hold a secret.
    public var description: String {
        "\(status) for \(request.method) \(request.loggableURL), \(body.count) bytes"
    }
}
