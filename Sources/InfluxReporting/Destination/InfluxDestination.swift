import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

// Destination: the server and database that lines are written to, and the credentials. It uses no other folder.

/// The server and database that points are written to, with the credentials.
///
/// ```swift
/// let home = try InfluxDestination.influxDB1(url, database: "health", authorization: .password(password, user: "app"))
/// let cloud = try InfluxDestination.influxDB2(
///     url, organization: "acme", bucket: "health", authorization: .token(token))
/// let newest = try InfluxDestination.influxDB3(url, database: "health", authorization: .bearer(token))
/// ```
///
/// The address is the server's, such as `https://influx.example.com`. It has a path only if a gateway needs one before the server's
/// own. Invalid values throw an error that says why.
public struct InfluxDestination: Sendable, Hashable {
    let api: InfluxAPI
    let authorization: InfluxAuthorization
    /// The extensions of line protocol that the server understands.
    ///
    /// Set it to `LineDialect.portable` if the server that reads the lines is not InfluxDB.
    public var lineDialect: LineDialect

    /// The database in words; nil for a custom destination, whose query can contain anything.
    private let name: String?
    /// The URL of the write endpoint, without a query.
    private let endpoint: URL
    /// The query without the time unit, treated as a secret because a custom query may contain one.
    private let query: Secret<[HTTPQueryItem]>

    private init(
        _ name: String?, _ api: InfluxAPI, _ endpoint: URL, query: [(String, String?)],
        _ authorization: InfluxAuthorization
    ) throws(InfluxDestinationError) {
        try authorization.check()
        self.name = name
        self.api = api
        self.authorization = authorization
        self.endpoint = endpoint
        self.query = Secret(query.map { HTTPQueryItem($0, $1) })
        lineDialect = api.lineDialect
    }
}

// MARK: - Creating

extension InfluxDestination {
    /// A database of InfluxDB 1.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - database: the name of an existing database.
    ///   - retentionPolicy: the name of an existing retention policy; nil for the database's default.
    ///   - authorization: the credentials.
    public static func influxDB1(
        _ address: URL, database: String, retentionPolicy: String? = nil, authorization: InfluxAuthorization = .none
    ) throws(InfluxDestinationError) -> Self {
        try InfluxDestinationError.check(database, as: .database)
        if let retentionPolicy { try InfluxDestinationError.check(retentionPolicy, as: .retentionPolicy) }
        return try Self(
            "database \(database)", .v1, EndpointAddress.url(beneath: address, of: .v1),
            query: [("db", database)] + (retentionPolicy.map { [("rp", $0)] } ?? []), authorization)
    }

    /// A bucket of InfluxDB 2.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - organization: the name or the identifier of the organization.
    ///   - bucket: the name or the identifier of the bucket.
    ///   - authorization: the credentials, usually a token.
    public static func influxDB2(
        _ address: URL, organization: String, bucket: String, authorization: InfluxAuthorization
    ) throws(InfluxDestinationError) -> Self {
        try InfluxDestinationError.check(organization, as: .organization)
        try InfluxDestinationError.check(bucket, as: .bucket)
        return try Self(
            "bucket \(bucket) of \(organization)", .v2, EndpointAddress.url(beneath: address, of: .v2),
            query: [("org", organization), ("bucket", bucket)], authorization)
    }

    /// A database of InfluxDB 3.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - database: the name of the database, which the server creates if it is missing.
    ///   - authorization: the credentials, usually a bearer token.
    ///   - acceptsPartial: whether the server stores the good lines of a request if it rejects others. Otherwise the writer sends
    ///     the good lines again, with the same result in more requests.
    ///   - waitsForSync: whether the server responds only after it has flushed the lines to its disk.
    public static func influxDB3(
        _ address: URL, database: String, authorization: InfluxAuthorization, acceptsPartial: Bool = true,
        waitsForSync: Bool = true
    ) throws(InfluxDestinationError) -> Self {
        try InfluxDestinationError.check(database, as: .database)
        var query: [(String, String?)] = [("db", database)]
        if !acceptsPartial { query.append(("accept_partial", "false")) }
        if !waitsForSync { query.append(("no_sync", "true")) }
        return try Self(
            "database \(database)", .v3, EndpointAddress.url(beneath: address, of: .v3), query: query, authorization)
    }

    /// VictoriaMetrics, through its API that resembles InfluxDB 2.
    ///
    /// It stores only numbers, and silently discards malformed lines.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - authorization: the credentials for a gateway in front of the server.
    public static func victoriaMetrics(
        _ address: URL, authorization: InfluxAuthorization = .none
    ) throws(InfluxDestinationError) -> Self {
        var destination = try Self(
            "VictoriaMetrics", .v2, EndpointAddress.url(beneath: address, of: .v2), query: [], authorization)
        // It ends lines at every newline.
        destination.lineDialect = .portable
        return destination
    }

    /// Any other server that accepts line protocol: a gateway, an agent, a custom path.
    ///
    /// ```swift
    /// let url = URL(string: "https://metrics.example.com/api/v1/write?bucket=health")!
    /// let destination = try InfluxDestination.custom(url, like: .v2, authorization: .token(token))
    /// ```
    ///
    /// - Parameters:
    ///   - url: the complete URL with its query. The writer adds the time unit as `precision`.
    ///   - api: the API that it resembles, which determines the names of the time units.
    ///   - authorization: the credentials.
    public static func custom(
        _ url: URL, like api: InfluxAPI, authorization: InfluxAuthorization = .none
    ) throws(InfluxDestinationError) -> Self {
        let (endpoint, query) = try EndpointAddress.parts(of: url)
        var destination = try Self(
            nil, api, endpoint, query: query.map { ($0.name, $0.value) }, authorization)
        destination.lineDialect = .portable
        return destination
    }
}

// MARK: - Requests

extension InfluxDestination {
    package func request(writing body: some HTTPBody, in precision: Precision) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: endpoint, headers: ["Accept": "application/json"], body: body)
        request.queryItems = query.value + [HTTPQueryItem("precision", api.name(of: precision))]
        authorization.sign(&request)
        // A tap would otherwise measure the requests that report its measurements.
        request.measurement = .never
        // A line with a timestamp that is delivered twice is stored once.
        request.isRepeatable = true
        // The sender evaluates the response itself.
        request.responseCheck = .nothing
        return request
    }
}

extension InfluxDestination: CustomStringConvertible, CustomReflectable {
    /// The database and the URL, without secrets.
    public var description: String {
        // Values in a query can be secrets; the request redacts them.
        var request = HTTPRequest(method: .post, url: endpoint)
        if name == nil { request.queryItems = query.value }
        return name.map { "\($0) at \(request.loggableURL)" } ?? request.loggableURL
    }

    /// The description, for debuggers and `dump`.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["destination": description, "authorization": authorization.description],
            displayStyle: .struct)
    }
}

/// The error of a destination that has an invalid value.
///
/// The text quotes nothing that could be a secret.
public struct InfluxDestinationError: Error, Sendable, Hashable {
    /// The part of a destination that is invalid; there may be more parts in the future.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the part.
        public let rawValue: String

        /// Makes a part of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the part.
        public var description: String { rawValue }

        /// The server's address.
        public static let address = Code(rawValue: "address")
        /// The name of the database.
        public static let database = Code(rawValue: "database")
        /// The name of the retention policy.
        public static let retentionPolicy = Code(rawValue: "retention policy")
        /// The name of the organization.
        public static let organization = Code(rawValue: "organization")
        /// The name of the bucket.
        public static let bucket = Code(rawValue: "bucket")
        /// The name of the user.
        public static let user = Code(rawValue: "user")
        /// The password.
        public static let password = Code(rawValue: "password")
        /// The token, or another secret value of a header.
        public static let token = Code(rawValue: "token")
        /// The header that carries the credentials.
        public static let header = Code(rawValue: "header")
    }

    /// The part that is invalid.
    public let code: Code

    /// The problem and what to do, as a sentence without secrets.
    public let reason: String

    /// Creates an error about a part; the text continues a sentence that begins with the part.
    init(_ code: Code, _ problem: String) {
        self.code = code
        reason = "The \(code.rawValue) \(problem)."
    }

    /// Throws if a text is empty or contains control characters, which are there by mistake.
    static func check(_ text: String, as part: Code, mayBeEmpty: Bool = false) throws(Self) {
        if text.isEmpty, !mayBeEmpty { throw Self(part, "is empty") }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Self(part, "contains a control character, such as a newline; remove it")
        }
    }
}

extension InfluxDestinationError: CustomStringConvertible, LocalizedError {
    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, for code that shows `localizedDescription`.
    public var errorDescription: String? { reason }
}
