/// Fills in what a request lacks: the host, the beginning of the path, headers and query items.
///
/// What the request has is never changed. It gets a host, with its scheme and port, only if it has none; a path prefix
/// only if its path does not begin with a slash; headers and query items only if it has none of that name. The
/// request's own ``HTTPRequest/serverEnvironment`` replaces the loader's.
///
/// Put it above loaders that read the host, such as a `Throttle` with limits per host, a `CircuitBreaker` or
/// ``Deduplicate``; above `Retry` too, so that it works once for all attempts.
///
/// ```swift
/// let chain = ApplyEnvironment(environment: .production) --> terminal
///
/// var request = HTTPRequest(path: "people")
/// request.serverEnvironment = .development
/// ```
///
/// A request with its own host gets the headers and query items as well. Do not put credentials there: use a loader
/// that knows which hosts they are for.
public final class ApplyEnvironment: HTTPLoader, @unchecked Sendable {
    private let environment: ServerEnvironment

    /// Makes a loader that fills in `environment` for requests without one of their own.
    public init(environment: ServerEnvironment) { self.environment = environment }

    /// Makes a loader that fills in a host, and a prefix for paths that do not begin with a slash.
    public convenience init(host: String, pathPrefix: String = "/") {
        self.init(environment: ServerEnvironment(host: host, pathPrefix: pathPrefix))
    }

    public override func load(task: HTTPTask) {
        let request = task.request
        if let filled = filled(request) { task.request = filled }
        super.load(task: task)
    }

    // A function of its own, because choosing with `??` would copy the loader's environment for every request.
    private func filled(_ request: HTTPRequest) -> HTTPRequest? {
        if let own = request.serverEnvironment { return own.filled(request) }
        return environment.filled(request)
    }

    /// The host.
    public override var details: String { environment.host }
}

/// The parts of requests that depend on the server: host, path prefix, headers and query items.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment(host: "api.example.com", pathPrefix: "/v1")
///     static let development = ServerEnvironment(scheme: "http", host: "localhost", port: 8080, pathPrefix: "/v1")
/// }
/// ```
///
/// ```swift
/// let chain = ApplyEnvironment(host: "api.example.com", pathPrefix: "/v1") --> terminal
/// let people: [Person] = try await chain.load(.get("people"))  // https://api.example.com/v1/people
/// ```
///
/// It is also an option of a request, which replaces the environment of ``ApplyEnvironment``.
public struct ServerEnvironment: Hashable, Sendable {
    /// The scheme for requests without a host; nil to keep theirs.
    public var scheme: String?
    /// The host for requests without one.
    public var host: String
    /// The port for requests without a host, unless they name a port; nil for the scheme's own.
    public var port: Int?
    /// The prefix of relative paths, which do not begin with a slash.
    public var pathPrefix: String
    /// The headers to add to requests that do not have them.
    public var headers: HTTPHeaders
    /// The query items to add to requests that do not have them.
    public var query: [HTTPQueryItem]

    /// Makes an environment; what you omit is not filled in.
    public init(
        scheme: String? = nil, host: String, port: Int? = nil, pathPrefix: String = "/", headers: HTTPHeaders = [:],
        query: [HTTPQueryItem] = []
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.pathPrefix = pathPrefix
        self.headers = headers
        self.query = query
    }
}

extension ServerEnvironment: HTTPRequestOption {
    /// None: the loader's own environment applies.
    public static var defaultOptionValue: ServerEnvironment? { nil }
}

extension HTTPRequest {
    /// The environment that fills in what this request lacks; nil for the environment of ``ApplyEnvironment``.
    ///
    /// An environment with an empty host and nothing else, `ServerEnvironment(host: "")`, only adds the slash before a
    /// relative path.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironment.self] }
        set { self[option: ServerEnvironment.self] = newValue }
    }
}

extension ServerEnvironment {
    /// The request with everything filled in; nil if nothing is missing, and then nothing is allocated, so that this costs little.
    func filled(_ request: HTTPRequest) -> HTTPRequest? {
        let lacksHost = request.storage.address.lacksHost && !host.isEmpty
        let hasRelativePath = request.path.utf8.first != UInt8(ascii: "/")
        let lacksHeaders = headers.contains { !request.headers.contains($0.name) }
        let lacksQuery = query.contains { !Self.query(request.query, hasItemNamed: $0.name) }
        guard lacksHost || hasRelativePath || lacksHeaders || lacksQuery else { return nil }

        var filled = request
        if lacksHost { fillAuthority(of: &filled) }
        if hasRelativePath { filled.path = absolute(request.path) }
        if lacksHeaders { filled.headers.merge(filling: headers) }
        if lacksQuery { fillQuery(of: &filled) }
        return filled
    }

    private func fillAuthority(of request: inout HTTPRequest) {
        request.host = host
        if let scheme { request.scheme = scheme }
        if request.port == nil { request.port = port }
    }

    /// The path after the prefix, with a slash before each of them.
    private func absolute(_ path: String) -> String {
        let prefix = pathPrefix.drop { $0 == "/" }
        if prefix.isEmpty { return "/" + path }
        return path.isEmpty || prefix.last == "/" ? "/\(prefix)\(path)" : "/\(prefix)/\(path)"
    }

    /// Appends missing items; existing ones stay as they are written.
    private func fillQuery(of request: inout HTTPRequest) {
        let present = request.query
        var added = RequestAddress()
        added.queryItems = query.filter { !Self.query(present, hasItemNamed: $0.name) }
        request.query = [present ?? "", added.query ?? ""].filter { !$0.isEmpty }.joined(separator: "&")
    }

    private static func query(_ query: String?, hasItemNamed name: String) -> Bool {
        guard let query else { return false }
        var rest = Substring(query).utf8
        while !rest.isEmpty {
            let item = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[item.endIndex...].dropFirst()
            let written = item.prefix { $0 != UInt8(ascii: "=") }
            if written.isEmpty, item.isEmpty { continue }
            if written.elementsEqual(name.utf8) { return true }
            // Only a name with an escape can be written in several ways.
            if written.contains(UInt8(ascii: "%")), PercentEncoding.decode(Substring(written)) == name { return true }
        }
        return false
    }
}
