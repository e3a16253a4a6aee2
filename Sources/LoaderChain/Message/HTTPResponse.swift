import LoaderChainPlatformFoundation

/// The response of a server.
public struct HTTPResponse: Sendable {
    // One reference, because a result is passed on a dozen times on its way up and stored by every task.
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
        var trailers = HTTPHeaders()
        var attempts = 1
        var metrics: TransferMetrics?
        var chunks: ResponseChunks?
        var file: URL?
    }

    /// The contents, which copies share until one is changed.
    private final class Storage: @unchecked Sendable {
        // Changed only through a response that has the only reference, so no other thread sees a change.
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

    /// The status; a failure status does not make an error by itself.
    public var status: HTTPStatus {
        get { storage.values.status }
        set { values.status = newValue }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { storage.values.headers }
        _modify { yield &values.headers }
    }

    /// The body; empty if there was none.
    public var body: Data {
        get { storage.values.body }
        _modify { yield &values.body }
    }

    /// The fields that the server sent after the body, such as a checksum or how a call ended; empty if there were none.
    ///
    /// A URLSession does not tell them, so a `URLSessionLoader` has none. With ``chunks``, they are in ``ResponseChunks/trailers``.
    public var trailers: HTTPHeaders {
        get { storage.values.trailers }
        _modify { yield &values.trailers }
    }

    /// How many attempts it took; 1 unless a loader such as ``Retry`` tried again.
    public var attempts: Int {
        get { storage.values.attempts }
        set { values.attempts = max(0, newValue) }
    }
}

extension HTTPResponse {
    /// The type and subtype of the body, without parameters; nil if it has no content type.
    var mediaType: String? {
        headers.values(for: "Content-Type").first.map { type in
            String(decoding: ASCII.trimmed(type.utf8.prefix { $0 != UInt8(ascii: ";") }), as: UTF8.self)
        }
    }

    /// The response without its chunks, for an error: an error that is kept must not keep the transfer alive.
    var head: HTTPResponse {
        var head = self
        head.chunks = nil
        return head
    }
}

// MARK: - How it arrived

extension HTTPResponse {
    /// The times, bytes and connection of the transfer; nil if nothing was transferred.
    public var metrics: TransferMetrics? {
        get { storage.values.metrics }
        set { values.metrics = newValue }
    }

    /// The body as it arrives, if the request asked for chunks; ``body`` is then empty.
    public var chunks: ResponseChunks? {
        get { storage.values.chunks }
        set { values.chunks = newValue }
    }

    /// The file that holds the body, if the request asked for a file; ``body`` is then empty.
    public var file: URL? {
        get { storage.values.file }
        set { values.file = newValue }
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status, the request's redacted URL and the size of the body.
    public var description: String {
        "\(status) for \(request.method) \(request.loggableURL), \(body.count) bytes"
    }
}

/// The result of a task: a response, whatever its status, or an error.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// The request as it was when the task ended.
    public var request: HTTPRequest {
        switch self {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }

    /// The response, also one that a loader refused.
    public var response: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// The error, if there is one.
    public var error: HTTPError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }

    /// How many attempts it took; 1 unless a loader such as ``Retry`` tried again.
    public var attempts: Int {
        switch self {
        case .success(let response): response.attempts
        case .failure(let error): error.attempts
        }
    }

    func numbered(_ attempts: Int) -> HTTPResult {
        if attempts == self.attempts { return self }
        switch self {
        case .success(var response):
            response.attempts = attempts
            return .success(response)
        case .failure(var error):
            error.attempts = attempts
            return .failure(error)
        }
    }

    /// The result without a body that may still be arriving.
    var withoutChunks: HTTPResult {
        guard response?.chunks != nil else { return self }
        switch self {
        case .success(let response): return .success(response.head)
        case .failure(var error):
            error.response?.chunks = nil
            return .failure(error)
        }
    }
}
