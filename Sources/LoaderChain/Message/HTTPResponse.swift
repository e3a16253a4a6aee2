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
    // Boxed, because every task has room for a result, and only a terminal over a network has these to tell.
    private var transfer: Transfer?

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

// MARK: - How it arrived

extension HTTPResponse {
    /// When the transfer began and ended, and how many bytes went each way; nil where nothing was transferred.
    public var metrics: TransferMetrics? {
        get { transfer?.values.metrics }
        set { changeTransfer { $0.metrics = newValue } }
    }

    /// The body as it arrives, where the request asked for that; ``body`` is empty then.
    public var chunks: ResponseChunks? {
        get { transfer?.values.chunks }
        set { changeTransfer { $0.chunks = newValue } }
    }

    /// The file that holds the body, where the request asked for one; ``body`` is empty then.
    public var file: URL? {
        get { transfer?.values.file }
        set { changeTransfer { $0.file = newValue } }
    }

    private mutating func changeTransfer(_ change: (inout Transfer.Values) -> Void) {
        var values: Transfer.Values = transfer?.values ?? (nil, nil, nil)
        change(&values)
        transfer = Transfer(values)
    }

    fileprivate final class Transfer: Sendable {
        typealias Values = (metrics: TransferMetrics?, chunks: ResponseChunks?, file: URL?)
        let values: Values
        init(_ values: Values) { self.values = values }
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status and the size of the body; nothing that could hold a secret.
    public var description: String {
        "\(status) for \(request.method) \(request.loggableURL), \(body.count) bytes"
    }
}
