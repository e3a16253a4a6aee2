#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a server answered.
public struct HTTPResponse: Sendable {
    /// The request as it was sent.
    public var request: HTTPRequest
    // Every task has room for a result, so these two share a word.
    private var statusCode: Int32
    private var attemptCount: UInt32 = 1
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty where there was none.
    public var body: Data

    /// Makes a response, as a terminal or a test does.
    public init(request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.request = request
        statusCode = Int32(clamping: status.rawValue)
        self.headers = headers
        self.body = body
    }
}

extension HTTPResponse {
    /// The status; one that says failure makes no error by itself.
    public var status: HTTPStatus {
        get { HTTPStatus(Int(statusCode)) }
        set { statusCode = Int32(clamping: newValue.rawValue) }
    }

    /// How many attempts it took to get it, this one included; 1 unless somebody tried again, as ``Retry`` does.
    public var attempts: Int {
        get { Int(attemptCount) }
        set { attemptCount = UInt32(clamping: newValue) }
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status and the size of the body; nothing that could hold a secret.
    public var description: String {
        "\(status) for \(request.method) \(request.loggableURL), \(body.count) bytes"
    }
}
