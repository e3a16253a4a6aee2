import LoaderChain
import LoaderChainPlatformFoundation

/// The constant part of a report besides its bytes: its identifier, and how it is sent.
struct RecordHead: Sendable {
    let id: ReportID
    let method: HTTPMethod
    let scheme: String
    let host: String?
    let port: Int?
    let path: String
    let query: String?
    let headers: HTTPHeaders

    /// Takes from a request what is written down, which is all but its body, its options and its fragment.
    init(_ id: ReportID, _ request: HTTPRequest, adding bodyHeaders: HTTPHeaders) {
        self.id = id
        method = request.method
        scheme = request.scheme
        host = request.host
        port = request.port
        path = request.path
        query = request.query
        var headers = request.headers
        headers.merge(filling: bodyHeaders)
        self.headers = headers
    }

    /// The request, as it is sent with a body.
    func request(body: any HTTPBody = EmptyBody()) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: scheme, host: host, port: port, path: path, headers: headers, body: body)
        request.query = query
        // With an idempotency key, a request of any method may be repeated.
        request.headers["Idempotency-Key"] = id.idempotencyKey
        request.isRepeatable = true
        return request
    }

    /// A digest of where it goes, by which pauses are kept apart.
    var destination: UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? 0)".utf8 {
            hash = (hash ^ UInt32(byte)) &* 0x0100_0193
        }
        return hash
    }
}

extension RecordHead {
    private static let version: UInt8 = 1

    /// The head as bytes.
    var encoded: Data {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(id.rawValue)
        writer.append(method.rawValue)
        writer.append(scheme)
        writer.append(host)
        writer.append(Int64(port ?? -1))
        writer.append(path)
        writer.append(query)
        writer.append(headers)
        return writer.bytes
    }

    /// The head of bytes, or nil if they are not one.
    init?(encoded: Data) {
        var reader = ByteReader(encoded)
        guard reader.number(UInt8.self) == Self.version, let id = reader.text().flatMap(ReportID.init),
            let method = reader.text(), let scheme = reader.text(), let host = reader.optionalText(),
            let port = reader.number(Int64.self), let path = reader.text(), let query = reader.optionalText(),
            let headers = reader.headers(), reader.isAtEnd
        else { return nil }
        self.id = id
        self.method = HTTPMethod(method)
        self.scheme = scheme
        self.host = host
        self.port = port < 0 ? nil : Int(exactly: port)
        self.path = path
        self.query = query
        self.headers = headers
    }
}
