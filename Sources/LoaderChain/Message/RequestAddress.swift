import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// The address of a request: the parts of a URL, percent-encoded, any of which may be missing.
struct RequestAddress: Sendable {
    var scheme = "https" { didSet { whole = nil } }
    /// A user and password, as some URLs have them, encoded.
    var userInfo: String? { didSet { whole = nil } }
    var host: String? {
        didSet {
            host = host.map(Self.withoutBrackets)
            whole = nil
        }
    }
    var port: Int? { didSet { whole = nil } }
    private(set) var path = "" { didSet { whole = nil } }
    private(set) var query: String? { didSet { whole = nil } }
    var fragment: String? { didSet { whole = nil } }
    /// The URL that the parts were taken from, until a part changes, so that it need not be made again.
    private var whole: URL?

    init() {}

    /// Splits a URL into its parts, which stay as they are written.
    init(_ url: URL) {
        let url = url.absoluteURL
        scheme = url.scheme ?? "https"
        // Read from the text, because Foundation decodes international host names.
        let server = Self.server(in: url.absoluteString)
        host = server.map { Self.withoutBrackets(String($0.host)) }
        // Foundation has none for a number that is too large, which must not become the scheme's own port.
        port = url.port ?? (server?.port.utf8.count ?? 0 > 1 ? .max : nil)
        path = url.path(percentEncoded: true)
        query = url.query(percentEncoded: true)
        fragment = url.fragment(percentEncoded: true)
        let user = url.user(percentEncoded: true) ?? ""
        let password = url.password(percentEncoded: true)
        if !user.isEmpty || password != nil { userInfo = user + (password.map { ":" + $0 } ?? "") }
        // Otherwise another reader of URLs could find other parts in it than those that are looked at here.
        if url.absoluteString == text(showing: .shown) { whole = url }
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

    var lacksHost: Bool { host?.isEmpty ?? true }

    /// What is wrong with scheme, host or port, which are put into a URL as they are; nil if nothing is.
    ///
    /// A host with a slash or an at sign would make a URL that leads to another server.
    var fault: String? {
        guard scheme == "https" || scheme == "http" || ["http", "https"].contains(scheme.lowercased()) else {
            return "The scheme \(ASCII.quoted(scheme)) is neither http nor https"
        }
        guard let host, !host.isEmpty else {
            return "The URL has no host; set request.host, or put a loader into the chain that fills it in"
        }
        if let port, !(1...65_535).contains(port) {
            let number = port == .max ? "" : " \(port)"
            return "The port\(number) is not valid; ports go from 1 to 65535"
        }
        if host.utf8.count > Self.longestHost {
            return "The host has \(host.utf8.count) bytes; a name has at most \(Self.longestHost)"
        }
        if host.utf8.allSatisfy({ Self.hostBytes.contains($0) }) || Self.isIPv6(host) { return nil }
        let advice =
            if host.utf8.contains(UInt8(ascii: "/")) {
                "give the host alone, and the rest by scheme and path, or make the request from a URL"
            } else if host.utf8.contains(UInt8(ascii: ":")) {
                "give the port by request.port"
            } else if !host.utf8.allSatisfy({ $0 < 0x80 }) {
                "write it in its ASCII form, which begins with xn--"
            } else {
                "it may hold letters, digits, dots, hyphens and underscores"
            }
        return "The host \(ASCII.quoted(host)) is not valid; \(advice)"
    }

    /// More than a name in DNS or an address can have.
    static let longestHost = 255

    /// The bytes of a name or an IPv4 address.
    private static let hostBytes = ASCIISet(ASCIISet.alphanumerics + "-._~")

    /// Whether a host is an IPv6 address, with or without a zone.
    private static func isIPv6(_ host: String) -> Bool {
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var address = in6_addr()
        guard inet_pton(AF_INET6, String(parts[0]), &address) == 1 else { return false }
        return parts.count == 1 || parts[1].utf8.allSatisfy(hostBytes.contains)
    }

    /// The host of a URL as it is written, and its port with the colon; nil if it has no server.
    private static func server(in url: String) -> (host: Substring, port: Substring)? {
        guard let start = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = url.utf8[start...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        let afterUser = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        let end =
            afterUser.first == UInt8(ascii: "[")
            ? afterUser.firstIndex(of: UInt8(ascii: "]")).map { afterUser.index(after: $0) }
            : afterUser.firstIndex(of: UInt8(ascii: ":"))
        return (
            url[afterUser.startIndex..<(end ?? afterUser.endIndex)],
            url[(end ?? afterUser.endIndex)..<afterUser.endIndex]
        )
    }

    /// The whole address as text, with or without its secrets; nil if it has a fault.
    func text(showing secrets: Secrets) -> String? {
        guard fault == nil else { return nil }
        var text = ""
        // Room for all but credentials and the fragment, which few have.
        text.reserveCapacity(
            scheme.utf8.count + (host ?? "").utf8.count + path.utf8.count + (query ?? "").utf8.count + 16)
        text += scheme
        text += "://"
        if let userInfo { text += (secrets == .shown ? userInfo : "redacted") + "@" }
        addAuthority(to: &text)
        addTarget(to: &text, showing: secrets)
        if secrets == .shown, let fragment { text += "#" + fragment }
        return text
    }

    /// The host and the port, as in a Host header.
    var authority: String {
        var text = ""
        addAuthority(to: &text)
        return text
    }

    private func addAuthority(to text: inout String) {
        let host = host ?? ""
        let hasColon = host.utf8.contains(UInt8(ascii: ":"))
        if hasColon { text += "[" }
        text += host
        if hasColon { text += "]" }
        guard let port else { return }
        text += ":"
        text += String(port)
    }

    /// The path and the query, as in a request line.
    func target(showing secrets: Secrets) -> String {
        var text = ""
        addTarget(to: &text, showing: secrets)
        return text
    }

    private func addTarget(to text: inout String, showing secrets: Secrets) {
        if path.utf8.first != UInt8(ascii: "/") { text += "/" }
        text += path
        guard let query = secrets == .shown ? query : redactedQuery else { return }
        text += "?"
        text += query
    }

    /// Whether secrets are shown, as to a server, or redacted, as in a log.
    enum Secrets { case shown, redacted }

    private var redactedQuery: String? { query.map(Redaction.query) }

    var url: URL? {
        if let whole { return whole }
        guard let text = text(showing: .shown), let url = URL(string: text) else { return nil }
        return url.host(percentEncoded: true)?.isEmpty == false ? url : nil
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
