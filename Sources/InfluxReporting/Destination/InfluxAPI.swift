import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// The write API of a server, which is that of InfluxDB 1, 2 or 3, or resembles it.
///
/// | | path | units of time |
/// |---|---|---|
/// | ``v1`` | `/write` | `n`, `u`, `ms`, `s` |
/// | ``v2`` | `/api/v2/write` | `ns`, `us`, `ms`, `s` |
/// | ``v3`` | `/api/v3/write_lp` | `nanosecond`, `microsecond`, `millisecond`, `second` |
public enum InfluxAPI: Sendable, Hashable, CaseIterable {
    /// The API of InfluxDB 1.
    case v1
    /// The API of InfluxDB 2.
    case v2
    /// The API of InfluxDB 3.
    case v3

    /// The path of the write endpoint, relative to the server's address.
    var path: String {
        switch self {
        case .v1: "write"
        case .v2: "api/v2/write"
        case .v3: "api/v3/write_lp"
        }
    }

    /// The name of a time unit in the API; some servers silently treat an unknown name as nanoseconds.
    func name(of precision: Precision) -> String {
        switch (self, precision) {
        case (.v1, .nanoseconds): "n"
        case (.v1, .microseconds): "u"
        case (.v2, .nanoseconds): "ns"
        case (.v2, .microseconds): "us"
        case (.v1, .milliseconds), (.v2, .milliseconds): "ms"
        case (.v1, .seconds), (.v2, .seconds): "s"
        case (.v3, .nanoseconds): "nanosecond"
        case (.v3, .microseconds): "microsecond"
        case (.v3, .milliseconds): "millisecond"
        case (.v3, .seconds): "second"
        }
    }

    var lineDialect: LineDialect { self == .v1 ? .influxDB1 : .influxDB2 }
}

/// Builds and checks the addresses of write endpoints.
enum EndpointAddress {
    /// The write endpoint of the server at `address`, which may have a path.
    static func url(beneath address: URL, of api: InfluxAPI) throws(InfluxDestinationError) -> URL {
        try check(address)
        guard address.query(percentEncoded: true) == nil else {
            throw problem("has a query; remove it, or use a custom destination")
        }
        let path = address.path(percentEncoded: true)
        let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
        if InfluxAPI.allCases.contains(where: { trimmed.hasSuffix("/" + $0.path) }) {
            throw problem("ends with the path of the write endpoint; remove it, because it is added")
        }
        return try replacing(path: trimmed + "/" + api.path, in: address)
    }

    static func parts(of url: URL) throws(InfluxDestinationError) -> (endpoint: URL, query: [HTTPQueryItem]) {
        try check(url)
        let query = HTTPRequest(url: url).queryItems
        if query.contains(where: { $0.name == "precision" }) {
            throw problem("has a precision in its query; remove it, because the writer adds it")
        }
        let path = url.path(percentEncoded: true)
        return (try replacing(path: path.isEmpty ? "/" : path, in: url), query)
    }

    private static func check(_ url: URL) throws(InfluxDestinationError) {
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw problem("contains a user or a password; pass them as the authorization")
        }
        guard url.fragment(percentEncoded: true) == nil else {
            throw problem("has a fragment, which is never sent; remove it")
        }
        let request = HTTPRequest(method: .post, url: url)
        do { _ = try request.encoded() } catch {
            throw problem("cannot be used. \(error.reason ?? "It is not the URL of a server")")
        }
    }

    /// The URL with another path and without its query.
    private static func replacing(path: String, in url: URL) throws(InfluxDestinationError) -> URL {
        var request = HTTPRequest(method: .post, url: url)
        request.path = path
        request.query = nil
        guard let url = request.url else { throw problem("is not the URL of a server") }
        return url
    }

    private static func problem(_ text: String) -> InfluxDestinationError { InfluxDestinationError(.address, text) }
}
