/// The server that a request is for: the host, however it is spelled, and the port if that is not the scheme's own.
///
/// It is what loaders mean by a host that they limit: two ports of one machine are two servers, while `http` and `https` at
/// their own ports are one.
struct HTTPOrigin: Hashable, Sendable {
    /// The host in lower case; empty until it is filled in.
    let host: String
    /// The port; nil for the scheme's own.
    let port: Int?

    /// The server of a request that has no host yet.
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
    var hostKey: String {
        guard let host else { return "" }
        // Most hosts are in lower case already, and looking is cheaper than copying.
        let isLowercase = host.utf8.withContiguousStorageIfAvailable(ASCII.isLowercase)
        return isLowercase ?? false ? host : host.lowercased()
    }

    var origin: HTTPOrigin { HTTPOrigin(host: hostKey, port: port == portOfScheme ? nil : port) }

    /// Whether its credentials belong to the server of another request: scheme, host and port are the same.
    func isForServer(of other: HTTPRequest) -> Bool {
        origin == other.origin && scheme.lowercased() == other.scheme.lowercased()
    }

    /// The port, even if it is the scheme's default; nil for a scheme other than HTTP's.
    package var portToConnect: Int? { port ?? portOfScheme }

    private var portOfScheme: Int? {
        if ASCII.isEqualIgnoringCase(scheme, "https") { return 443 }
        return ASCII.isEqualIgnoringCase(scheme, "http") ? 80 : nil
    }
}

// MARK: - A server that a response has chosen

extension HTTPRequest {
    /// Whether a response has chosen the server, which must not get the credentials that the request has among its options.
    var isForChosenServer: Bool { self[option: ChosenServerOption.self] }

    /// Notes that a response has chosen the server, by a redirect or a link.
    mutating func noteChosenServer() { self[option: ChosenServerOption.self] = true }
}

private enum ChosenServerOption: HTTPRequestOption {
    static var defaultOptionValue: Bool { false }
}

// MARK: - This machine

extension HTTPRequest {
    /// Whether the request is for this machine itself, which needs no network; false where the host is still to be filled in.
    var isForThisMachine: Bool {
        let host = hostKey
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        // A name such as 127.example.com can belong to another machine.
        return host.hasPrefix("127.") && host.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }

    /// Whether the request goes over TLS, or does not leave this machine.
    package var isConfidential: Bool { ASCII.isEqualIgnoringCase(scheme, "https") || isForThisMachine }
}

extension HTTPRequest {
    /// Whether it went to the server that was asked, and no redirect led to another; a host that a loader below fills in may be any.
    fileprivate func isFor(_ asked: HTTPOrigin) -> Bool {
        let sent = origin
        return asked == sent || asked.host.isEmpty || sent.host.isEmpty
    }
}

extension HTTPResponse {
    func comes(from asked: HTTPOrigin) -> Bool { request.isFor(asked) }
}

extension HTTPResult {
    func comes(from asked: HTTPOrigin) -> Bool {
        switch self {
        case .success(let response): response.comes(from: asked)
        case .failure(let error): (error.response?.request ?? error.request).isFor(asked)
        }
    }
}
