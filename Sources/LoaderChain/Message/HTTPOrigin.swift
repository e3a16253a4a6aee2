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

extension HTTPOrigin: CustomStringConvertible {
    /// The host and the port, as a URL has them.
    var description: String {
        var address = RequestAddress()
        address.host = host
        address.port = port
        return address.authority
    }
}

extension HTTPRequest {
    /// The server that the request is for.
    var origin: HTTPOrigin {
        guard let port else { return HTTPOrigin(host: hostKey, port: nil) }
        let isOwn = port == (scheme.lowercased() == "http" ? 80 : 443)
        return HTTPOrigin(host: hostKey, port: isOwn ? nil : port)
    }
}
