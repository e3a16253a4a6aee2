// Terminal/TLS: what a terminal is told about secure connections, whatever it sends requests with. It may use Message and Support.

/// How a terminal makes secure connections: whom it trusts, and how it identifies itself.
///
/// One value serves every terminal:
///
/// ```swift
/// var tls = TLSOptions()
/// tls.authorities = .only(.file(URL(filePath: "/etc/company/authority.pem")))
/// tls.minimumVersion = .v1_3
/// ```
///
/// A terminal that cannot do what the options ask for is not made: its initializer throws ``TLSOptions/Refused``, whose reason says what
/// to do instead. Nothing is ever sent with less protection than the options ask for.
///
/// Nothing here turns the check of a server's certificate off. For a server of your own, trust its authority.
public struct TLSOptions: Hashable, Sendable {
    /// Whose certificates are trusted; by default those that the system trusts.
    public var authorities = CertificateAuthorities.system

    /// The certificate that identifies this client to servers that ask for one; by default none.
    ///
    /// Any server may ask, also one that a redirect leads to. It sees the certificate, never the key.
    public var clientCertificate: ClientCertificate?

    /// The public keys that hosts must have, beside a certificate that is trusted.
    ///
    /// ```swift
    /// var tls = TLSOptions()
    /// let pin = PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=")
    /// let spare = PublicKeyHash(base64: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    /// tls.pins["api.example.com"] = Set([pin, spare].compactMap(\.self))
    /// ```
    ///
    /// The server's own certificate must have one of the host's keys; the keys of its authorities do not count. A host is
    /// written as in a URL, in any case and without a port; `*.example.com` is every host below `example.com`, and a host's
    /// own entry replaces it. Hosts without an entry need no key. A request to a host with pins must use https.
    ///
    /// List a second key that is not in use yet: if the first is lost, no other client can be reached otherwise.
    public var pins: [String: Set<PublicKeyHash>] = [:]

    /// The lowest version of TLS; nil, the default, for the lowest that the system accepts.
    public var minimumVersion: TLSVersion?

    /// Makes the options that every terminal has by default: the system's.
    public init() {}
}

extension TLSOptions {
    /// The keys of which the server of a host must have one; nil if any key will do.
    ///
    /// - Parameter host: the host as in a URL, in any case.
    public func pins(for host: String) -> Set<PublicKeyHash>? {
        guard !pins.isEmpty else { return nil }
        let host = Self.canonical(host)
        var nearest: (length: Int, keys: Set<PublicKeyHash>)?
        for (pattern, keys) in pins {
            let pattern = Self.canonical(pattern)
            if pattern == host { return keys }
            guard pattern.hasPrefix("*."), host.hasSuffix(pattern.dropFirst()) else { continue }
            let length = pattern.utf8.count
            if host.utf8.count >= length, nearest.map({ $0.length < length }) ?? true { nearest = (length, keys) }
        }
        return nearest?.keys
    }

    /// A host in lower case, and without the dot at its end, which leads to the same server.
    private static func canonical(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    /// Why a request must not be sent with these options; nil if it may be.
    ///
    /// A terminal asks this for every request, also for one that a redirect leads to, before it makes a connection.
    public func reasonNotToSend(_ request: HTTPRequest) -> String? {
        guard let host = request.host, !ASCII.isEqualIgnoringCase(request.scheme, "https"), pins(for: host) != nil
        else {
            return nil
        }
        return "The host has pinned keys, and the scheme is not https"
    }
}

extension TLSOptions: CustomStringConvertible, CustomDebugStringConvertible {
    /// What is asked for, without keys and passphrases.
    public var description: String {
        var parts = ["authorities: \(authorities)"]
        if let clientCertificate { parts.append("client certificate: \(clientCertificate)") }
        if !pins.isEmpty { parts.append("pins: \(pins.keys.sorted().joined(separator: " "))") }
        if let minimumVersion { parts.append("at least \(minimumVersion)") }
        return "TLSOptions(\(parts.joined(separator: ", ")))"
    }

    /// The same as the description.
    public var debugDescription: String { description }
}
