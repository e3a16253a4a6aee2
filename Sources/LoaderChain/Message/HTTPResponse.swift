#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a server answered.
public struct HTTPResponse: Sendable {
    // One reference, because a result is handed on a dozen times on its way up and kept by every task.
    private var storage: Storage

    /// Makes a response, as a terminal or a test does.
    public init(request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data()) {
        storage = Storage(Values(request: request, status: status, headers: headers, body: body))
    }

    private struct Values {
        var request: HTTPRequest
        var status: HTTPStatus
        var headers: HTTPHeaders
        var body: Data
        var attempts = 1
        var metrics: TransferMetrics?
        var chunks: ResponseChunks?
        var file: URL?
    }

    /// What responses share until one of them is changed.
    private final class Storage: @unchecked Sendable {
        // Changed only through a response that holds the only reference, so no other thread sees a change.
        var values: Values
        init(_ values: Values) { self.values = values }
    }

    private var values: Values {
        get { storage.values }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.values) }
            yield &storage.values
        }
    }
}

extension HTTPResponse {
    /// The request as it was sent.
    public var request: HTTPRequest {
        get { storage.values.request }
        _modify { yield &values.request }
    }

    /// The status; one that says failure makes no error by itself.
    public var status: HTTPStatus {
        get { storage.values.status }
        set { values.status = newValue }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { storage.values.headers }
        _modify { yield &values.headers }
    }

    /// The body; empty where there was none.
    public var body: Data {
        get { storage.values.body }
        _modify { yield &values.body }
    }

    /// How many attempts it took to get it, this one included; 1 unless somebody tried again, as ``Retry`` does.
    public var attempts: Int {
        get { storage.values.attempts }
        set { values.attempts = max(0, newValue) }
    }
}

// MARK: - How it arrived

extension HTTPResponse {
    /// When the transfer began and ended, and how many bytes went each way; nil where nothing was transferred.
    public var metrics: TransferMetrics? {
        get { storage.values.metrics }
        set { values.metrics = newValue }
    }

    /// The body as it arrives, where the request asked for that; ``body`` is empty then.
    public var chunks: ResponseChunks? {
        get { storage.values.chunks }
        set { values.chunks = newValue }
    }

    /// The file that holds the body, where the request asked for one; ``body`` is empty then.
    public var file: URL? {
        get { storage.values.file }
        set { values.file = newValue }
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status and the size of the body; nothing that could hold a secret.
    public var description: String {
        "\(status) for \(request.method) \(request.loggableURL), \(body.count) bytes"
    }
}
