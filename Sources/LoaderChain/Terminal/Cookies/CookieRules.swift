/// Where a request goes, as far as cookies ask.
struct CookieOrigin: Hashable, Sendable {
    /// The host in lower case.
    let host: String
    /// The path, which begins with a slash.
    let path: String
    /// Whether nothing on the way can read the request.
    let isSecure: Bool

    init(host: String, path: String, isSecure: Bool) {
        self.host = host
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
        self.isSecure = isSecure
    }

    /// The origin of a request; nil while its host is not known.
    init?(_ request: HTTPRequest) {
        guard !request.hostKey.isEmpty else { return nil }
        self.init(host: request.hostKey, path: request.path, isSecure: request.isConfidential)
    }

    /// The path of cookies that name none: that of the request, up to its last slash (RFC 6265bis, section 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// The comparisons of RFC 6265bis, sections 5.1.3 and 5.1.4.
enum CookieRules {
    /// Whether a host is a domain or below it; addresses are below none.
    static func host(_ host: String, matches domain: String) -> Bool {
        if host == domain { return true }
        return isBelow(host, domain) && !isAddress(host)
    }

    private static func isBelow(_ host: String, _ domain: String) -> Bool {
        let rest = host.utf8.count - domain.utf8.count
        guard rest > 0, !domain.isEmpty, host.utf8.suffix(domain.utf8.count).elementsEqual(domain.utf8) else {
            return false
        }
        return host.utf8.prefix(rest).last == UInt8(ascii: ".")
    }

    /// Whether a host is an IP address: it has a colon, or its last label is a number.
    static func isAddress(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last
        return last?.allSatisfy(ASCII.isDigit) ?? false
    }

    /// Whether a cookie of a path is sent to another path.
    static func path(_ path: String, matches cookiePath: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        if path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == UInt8(ascii: "/") { return true }
        return path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }

    /// The domains whose cookies a host may be sent: its own, and those above it.
    static func domains(of host: String) -> [String] {
        guard !isAddress(host) else { return [host] }
        var domains = [host]
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[dot...].dropFirst()
            if !rest.isEmpty { domains.append(String(rest)) }
        }
        return domains
    }
}
