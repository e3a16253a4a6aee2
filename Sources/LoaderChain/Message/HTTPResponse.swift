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
        storage = Storage(request: request, status: status, headers: headers, body: body, attempts: 1)
    }

    /// What responses share until one of them is changed.
    private final class Storage: @unchecked Sendable {
        var request: HTTPRequest
        var status: HTTPStatus
        var headers: HTTPHeaders
        var body: Data
        var attempts: Int

        init(request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders, body: Data, attempts: Int) {
            self.request = request
            self.status = status
            self.headers = headers
            self.body = body
            self.attempts = attempts
        }
    }

    private mutating func makeUnique() {
        guard !isKnownUniquelyReferenced(&storage) else { return }
        storage = Storage(
            request: storage.request, status: storage.status, headers: storage.headers, body: storage.body,
            attempts: storage.attempts)
    }
}

extension HTTPResponse {
    /// The request as it was sent.
    public var request: HTTPRequest {
        get { storage.request }
        _modify {
            makeUnique()
            yield &storage.request
        }
    }

    /// The status; one that says failure makes no error by itself.
    public var status: HTTPStatus {
        get { storage.status }
        set {
            makeUnique()
            storage.status = newValue
        }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { storage.headers }
        _modify {
            makeUnique()
            yield &storage.headers
        }
    }

    /// The body; empty where there was none.
    public var body: Data {
        get { storage.body }
        _modify {
            makeUnique()
            yield &storage.body
        }
    }

    /// How many attempts it took to get it, this one included; 1 unless somebody tried again, as ``Retry`` does.
    public var attempts: Int {
        get { storage.attempts }
        set {
            makeUnique()
            storage.attempts = max(0, newValue)
        }
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status and the size of the body; nothing that could hold a secret.
    public var description: String {
        "\(status) for \(request.method) \(request.loggableURL), \(body.count) bytes"
    }
}
