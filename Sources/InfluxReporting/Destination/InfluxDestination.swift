import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

// Destination: where lines are written to, and with which credentials. It uses no other folder.

/// Where points are written to: a database of a server, and how to be let in.
///
/// ```swift
/// let home = try InfluxDestination.influxDB1(url, database: "health", authorization: .password(password, user: "app"))
/// let cloud = try InfluxDestination.influxDB2(
///     url, organization: "acme", bucket: "health", authorization: .token(token))
/// let newest = try InfluxDestination.influxDB3(url, database: "health", authorization: .bearer(token))
/// ```
///
/// The address is the server's, `https://influx.example.com`, with a path only where a gateway wants one before the
/// server's own. Invalid values throw an error that says why.
public struct InfluxDestination: Sendable, Hashable {
    /// Which interface the server speaks.
    public let api: InfluxAPI
    /// How the writer shows who it is.
    public let authorization: InfluxAuthorization
    /// What the server reads in lines beyond what every server does.
    ///
    /// Set it to `LineDialect.portable` where something other than InfluxDB reads them.
    public var lineDialect: LineDialect

    /// What its query says, in words; nil for a custom one, whose query can say anything.
    private let name: String?
    /// The address that lines are written to, without a query.
    private let endpoint: URL
    /// The query but for the unit of time; what a custom one holds is treated as a secret.
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

// MARK: - Choosing one

extension InfluxDestination {
    /// A database of InfluxDB 1.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - database: the database, which must be there.
    ///   - retentionPolicy: how long the points are kept, by the name of a policy that must be there; nil for the database's own.
    ///   - authorization: how the writer shows who it is.
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
    ///   - organization: the organization, by its name or its identifier.
    ///   - bucket: the bucket, by its name or its identifier.
    ///   - authorization: how the writer shows who it is, as a rule by a token.
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
    ///   - database: the database, which the server makes if there is none.
    ///   - authorization: how the writer shows who it is, as a rule by a token as bearer.
    ///   - acceptsPartial: whether the good lines of a request are stored although others are refused. Otherwise the writer
    ///     sends them again without the others, and it comes to the same in more requests.
    ///   - waitsForSync: whether the server answers only when the lines are on its disk.
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

    /// VictoriaMetrics, by its interface in the manner of InfluxDB 2.
    ///
    /// It stores numbers alone, and takes a line that it cannot read without a word.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - authorization: how the writer shows who it is, to a gateway before the server.
    public static func victoriaMetrics(
        _ address: URL, authorization: InfluxAuthorization = .none
    ) throws(InfluxDestinationError) -> Self {
        var destination = try Self(
            "VictoriaMetrics", .v2, EndpointAddress.url(beneath: address, of: .v2), query: [], authorization)
        // It ends lines at every newline.
        destination.lineDialect = .portable
        return destination
    }

    /// Anything else that takes lines: a gateway, an agent, a path of your own.
    ///
    /// ```swift
    /// let url = URL(string: "https://metrics.example.com/api/v1/write?bucket=health")!
    /// let destination = try InfluxDestination.custom(url, like: .v2, authorization: .token(token))
    /// ```
    ///
    /// - Parameters:
    ///   - url: the whole address with its query. The unit of time is added to it, as `precision`.
    ///   - api: what it resembles: by this the units of time are named.
    ///   - authorization: how the writer shows who it is.
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

// MARK: - Using it

extension InfluxDestination {
    /// The request that writes some lines, with the credentials on it.
    package func request(writing body: some HTTPBody, in precision: Precision) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: endpoint, headers: ["Accept": "application/json"], body: body)
        request.queryItems = query.value + [HTTPQueryItem("precision", api.name(of: precision))]
        authorization.sign(&request)
        // Who measures requests would otherwise measure the reports of its measurements.
        request.measurement = .never
        // A line with a time that arrives twice is the same point again.
        request.isRepeatable = true
        // What the server answers is read here, whatever is demanded of others.
        request.responseCheck = .nothing
        return request
    }
}

extension InfluxDestination: CustomStringConvertible, CustomReflectable {
    /// Where it is; no secrets.
    public var description: String {
        // Values in a query can be secrets, and the request knows how to keep them.
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

/// Why a destination cannot be used.
///
/// The text quotes nothing that could be a secret.
public struct InfluxDestinationError: Error, Sendable, Hashable {
    /// The part of a destination that is wrong.
    public enum Code: String, Sendable, Hashable {
        /// The server's address.
        case address
        /// The name of the database.
        case database
        /// The name of the retention policy.
        case retentionPolicy = "retention policy"
        /// The name of the organization.
        case organization
        /// The name of the bucket.
        case bucket
        /// The name of the user.
        case user
        /// The password.
        case password
        /// The token, or another secret value of a header.
        case token
        /// The header that carries the credentials.
        case header
    }

    /// The part that is wrong.
    public let code: Code

    /// What is wrong and what to do, as a sentence; no secrets.
    public let reason: String

    /// An error about a part, with the rest of a sentence that begins with it.
    init(_ code: Code, _ problem: String) {
        self.code = code
        reason = "The \(code.rawValue) \(problem)."
    }

    /// Throws for a text that is empty or has control characters in it, which are there by mistake.
    static func check(_ text: String, as part: Code, mayBeEmpty: Bool = false) throws(Self) {
        if text.isEmpty, !mayBeEmpty { throw Self(part, "is empty") }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Self(part, "has a control character in it, such as a line end; take it out")
        }
    }
}

extension InfluxDestinationError: CustomStringConvertible, LocalizedError {
    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, for code that shows `localizedDescription`.
    public var errorDescription: String? { reason }
}
