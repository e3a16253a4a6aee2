/// The server that a request is for: the host, however it is spelled, and the port if that is not the scheme's own.
///
/// It is what loaders mean by a host that they limit: two ports of one machine are two servers, while `http` and `https` at
/// their own ports are one.
struct HTTPOrigin: Hashable, Sendable {
    /// The host in lower case; empty where it is still to be filled in.
    let host: String
    /// The port; nil for the scheme's own.
    let port: Int?

    /// The server of a request that does not tell it yet.
    static let unknown = HTTPOrigin(host: "", port: nil)
}

extension HTTPOrigin {
    /// What stands for a port in a key; no server has it.
    private static var keyPort: Int { .min }

    /// What a program counts requests by instead of by their servers; equal to no server.
    static func key(_ key: String) -> HTTPOrigin { HTTPOrigin(host: key, port: keyPort) }

    fileprivate var isKey: Bool { port == Self.keyPort }
}

extension HTTPOrigin: CustomStringConvertible {
    /// The host and the port, as a URL has them; or a key.
    var description: String {
        if isKey { return host }
        var address = RequestAddress()
        address.host = host
        address.port = port
        return address.authority
    }
}

extension HTTPRequest {
    /// The host in lower case, so that all spellings of a host are one key; empty while no loader has filled it in.
    var hostKey: String { storage.hostKey }

    var origin: HTTPOrigin {
        guard let port else { return HTTPOrigin(host: hostKey, port: nil) }
        let isOwn = port == (scheme.lowercased() == "http" ? 80 : 443)
        return HTTPOrigin(host: hostKey, port: isOwn ? nil : port)
    }
}

extension HTTPRequest.Storage {
    var hostKey: String {
        guard let host = address.host else { return "" }
        // Most hosts are in lower case already, and looking is cheaper than copying.
        let isLowercase = host.utf8.withContiguousStorageIfAvailable(ASCII.isLowercase)
        return isLowercase ?? false ? host : host.lowercased()
    }
}

// MARK: - This machine

extension HTTPRequest {
    /// Whether the request is for this machine itself, which needs no network; false where the host is still to be filled in.
    var isForThisMachine: Bool {
        let host = hostKey
        if Self.namesThisMachine(host) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether the request goes over TLS, or does not leave this machine.
    package var isConfidential: Bool {
        if ASCII.isEqualIgnoringCase(scheme, "https") { return true }
        let host = hostKey
        if Self.namesThisMachine(host) { return true }
        // A name such as 127.example.com can belong to another machine.
        return host.hasPrefix("127.") && host.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }

    private static func namesThisMachine(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
    }
}
