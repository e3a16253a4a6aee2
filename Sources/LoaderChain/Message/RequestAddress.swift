#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a request goes: the parts of a URL, percent-encoded, any of which may still be missing.
struct RequestAddress: Sendable {
    var scheme = "https"
    /// A user and password as some URLs carry them, encoded.
    private(set) var userInfo: String?
    var host: String?
    var port: Int?
    private(set) var path = ""
    private(set) var query: String?
    var fragment: String?

    init() {}

    /// Takes a URL apart without changing how anything in it is written.
    init(_ url: URL) {
        let url = url.absoluteURL
        scheme = url.scheme ?? "https"
        host = url.host(percentEncoded: true).map(Self.withoutBrackets)
        port = url.port
        path = url.path(percentEncoded: true)
        query = url.query(percentEncoded: true)
        fragment = url.fragment(percentEncoded: true)
        if let user = url.user(percentEncoded: true), !user.isEmpty {
            userInfo = user + (url.password(percentEncoded: true).map { ":" + $0 } ?? "")
        }
    }

    mutating func setPath(_ newPath: String) {
        path = PercentEncoding.path.encodeKeepingEscapes(newPath)
    }

    mutating func setQuery(_ newQuery: String?) {
        query = newQuery.map(PercentEncoding.query.encodeKeepingEscapes)
    }

    var queryItems: [HTTPQueryItem] {
        get {
            guard let query, !query.isEmpty else { return [] }
            return query.split(separator: "&", omittingEmptySubsequences: true).map { item in
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return HTTPQueryItem(
                    PercentEncoding.decode(parts[0]), parts.count > 1 ? PercentEncoding.decode(parts[1]) : nil)
            }
        }
        set {
            guard !newValue.isEmpty else { return query = nil }
            query = newValue.map { item in
                let name = PercentEncoding.queryItem.encode(item.name)
                return item.value.map { name + "=" + PercentEncoding.queryItem.encode($0) } ?? name
            }.joined(separator: "&")
        }
    }

    /// Whether the host is still to be filled in.
    var lacksHost: Bool { host?.isEmpty ?? true }

    /// The whole address as text, with or without what could be secret in it; nil without a host.
    func text(showing secrets: Secrets) -> String? {
        guard let host, !host.isEmpty else { return nil }
        var text = scheme + "://"
        if let userInfo { text += (secrets == .shown ? userInfo : "redacted") + "@" }
        text += host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        if let port { text += ":\(port)" }
        return text + target(showing: secrets) + (secrets == .shown ? fragment.map { "#" + $0 } ?? "" : "")
    }

    /// The path and the query, as a request line has them.
    func target(showing secrets: Secrets) -> String {
        let query = secrets == .shown ? query : redactedQuery
        return (path.utf8.first == UInt8(ascii: "/") ? "" : "/") + path + (query.map { "?" + $0 } ?? "")
    }

    /// Whether a text is meant for a server or for a reader.
    enum Secrets { case shown, redacted }

    private var redactedQuery: String? {
        guard let query else { return nil }
        return query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "=") else { return String(item) }
            return item[..<equals] + "=redacted"
        }.joined(separator: "&")
    }

    var url: URL? {
        guard let text = text(showing: .shown), let url = URL(string: text) else { return nil }
        return url.host(percentEncoded: true)?.isEmpty == false ? url : nil
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
