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
/// let chain = ApplyEnvironment(environment: ServerEnvironment(host: "api.example.com", pathPrefix: "/v1")) --> terminal
/// let people = try await chain.load(HTTPRequest(path: "people"))  // https://api.example.com/v1/people
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
    /// The environment that fills in what this request lacks; nil for the one of ``ApplyEnvironment``.
    ///
    /// An environment with an empty host and nothing else, `ServerEnvironment(host: "")`, only adds the slash before a
    /// relative path.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironment.self] }
        set { self[option: ServerEnvironment.self] = newValue }
    }
}
