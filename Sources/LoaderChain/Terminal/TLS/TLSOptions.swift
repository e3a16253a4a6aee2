// Terminal/TLS: the settings of secure connections, for every terminal. They may use Message and Support.

import LoaderChainPlatformFoundation

/// The settings of secure connections: the authorities to trust, and the client's own certificate.
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

    /// The public keys that hosts must have, in addition to a trusted certificate.
    ///
    /// ```swift
    /// var tls = TLSOptions()
    /// let pin = PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=")
    /// let spare = PublicKeyHash(base64: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    /// tls.pins["api.example.com"] = Set([pin, spare].compactMap(\.self))
    /// ```
    ///
    /// The server's own certificate must have one of the host's keys; the keys of its authorities do not count. A host is
    /// written as in a URL, in any case and without brackets or a port; `*.example.com` is every host below `example.com`, and a host's
    /// own entry replaces it. Hosts without an entry need no key. A request to a host with pins must use https.
    ///
    /// List a second key that is not in use yet: if the first is lost, no other client can be reached otherwise.
    public var pins: [String: Set<PublicKeyHash>] = [:]

    /// The lowest version of TLS; nil, the default, for the lowest that the system accepts, and at least 1.2 over libcurl.
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

    /// The reason why a request must not be sent with these options; nil if it may be.
    ///
    /// A terminal asks this for every request, also for one that a redirect leads to, before it makes a connection.
    public func reasonNotToSend(_ request: HTTPRequest) -> String? {
        guard let host = request.host, !ASCII.isEqualIgnoringCase(request.scheme, "https"), pins(for: host) != nil
        else {
            return nil
        }
        return "The host has pinned keys, but the scheme is not https"
    }
}

extension TLSOptions: CustomStringConvertible {
    /// The options that are set, without keys and passphrases.
    public var description: String {
        var parts = ["authorities: \(authorities)"]
        if let clientCertificate { parts.append("client certificate: \(clientCertificate)") }
        if !pins.isEmpty { parts.append("pins: \(pins.keys.sorted().joined(separator: " "))") }
        if let minimumVersion { parts.append("at least \(minimumVersion)") }
        return "TLSOptions(\(parts.joined(separator: ", ")))"
    }
}

// MARK: - What a terminal must be able to do

extension TLSOptions {
    /// Something that options ask of a terminal, and that not every terminal can do.
    public struct Feature: Hashable, Sendable, CustomStringConvertible {
        /// The words of a reason.
        public let description: String
        /// The advice if it is missing.
        private let advice: String?

        private init(_ description: String, advice: String? = nil) {
            self.description = description
            self.advice = advice
        }

        /// Trusting authorities of one's own, and none of the system.
        public static let onlyOwnAuthorities = Feature("trust authorities of your own instead of the system's")
        /// Trusting authorities of your own in addition to those of the system.
        public static let additionalAuthorities = Feature("trust authorities of your own in addition to the system's")
        /// A client certificate as PEM.
        public static let pemClientCertificate = Feature(
            "use a client certificate as PEM",
            advice: "make a PKCS#12 archive of it (openssl pkcs12 -export -in certificate.pem -inkey key.pem)")
        /// A client certificate in a PKCS#12 archive.
        public static let pkcs12ClientCertificate = Feature(
            "use a client certificate in a PKCS#12 archive",
            advice: "take certificate and key out as PEM (openssl pkcs12 -in archive.p12)")
        /// Pinned keys.
        public static let pins = Feature("check pinned keys")
        /// A minimum version.
        public static let minimumVersion = Feature("require a version of TLS")

        /// The same feature in another form, which a terminal may have.
        fileprivate var alternative: Feature? {
            switch self {
            case .pemClientCertificate: .pkcs12ClientCertificate
            case .pkcs12ClientCertificate: .pemClientCertificate
            default: nil
            }
        }

        fileprivate func advice(among supported: Set<Feature>) -> String? {
            alternative.map(supported.contains) == true ? advice : nil
        }
    }

    /// The features that the options need beyond the system's own behavior.
    public var features: Set<Feature> {
        var features: Set<Feature> = []
        if !authorities.includesSystem {
            features.insert(.onlyOwnAuthorities)
        } else if !authorities.own.isEmpty {
            features.insert(.additionalAuthorities)
        }
        if let clientCertificate {
            features.insert(clientCertificate.archive == nil ? .pemClientCertificate : .pkcs12ClientCertificate)
        }
        if !pins.isEmpty { features.insert(.pins) }
        if minimumVersion != nil { features.insert(.minimumVersion) }
        return features
    }

    /// Checks that a terminal with some features can do all that the options ask for, and that the options are whole.
    ///
    /// A terminal calls this when it is made.
    ///
    /// - Parameters:
    ///   - terminal: the terminal, as the subject of a sentence, such as "This system's URLSession".
    ///   - supported: the features that it has.
    ///   - advice: the advice for all other features, as a clause.
    /// - Throws: if the terminal cannot do something, a file cannot be read, a certificate is missing, or a host of the pins is
    ///   not a host or has no key.
    public func check(
        for terminal: String, supporting supported: Set<Feature>, otherwise advice: String = "use another terminal"
    ) throws(Refused) {
        let missing = features.subtracting(supported).sorted { $0.description < $1.description }
        if let feature = missing.first {
            throw Refused("\(terminal) cannot \(feature); \(feature.advice(among: supported) ?? advice)")
        }
        guard authorities.includesSystem || !authorities.own.isEmpty else {
            throw Refused(
                "No authority is trusted, so every connection would fail; add an authority, or trust the system's")
        }
        _ = try authorities.certificates()
        try clientCertificate?.check()
        var hosts: Set<String> = []
        for (host, keys) in pins.sorted(by: { $0.key < $1.key }) {
            guard Self.isHost(host) else {
                throw Refused(
                    "Keys are pinned to \"\(ASCII.printable(String(host.prefix(100))))\", which is not a valid host; write it as in a URL, without scheme, brackets, port and path"
                )
            }
            guard hosts.insert(Self.canonical(host)).inserted else {
                throw Refused("The host \(host) has pins under two spellings; put all its keys under one")
            }
            guard !keys.isEmpty else {
                throw Refused("The host \(host) has an empty set of pins; leave it out, or add a key")
            }
        }
    }

    private static func isHost(_ pattern: String) -> Bool {
        let host = pattern.hasPrefix("*.") ? String(pattern.dropFirst(2)) : pattern
        var address = RequestAddress()
        address.host = host
        // A host in brackets would be taken without them.
        return address.fault == nil && address.host == host
    }

    /// Thrown if a terminal cannot be made with these options.
    public struct Refused: Error, Hashable, Sendable {
        /// The unsupported or invalid option, and what to do instead, as a sentence.
        public let reason: String

        /// Makes an error with a reason, for a terminal of your own.
        public init(_ reason: String) { self.reason = reason }
    }
}

extension TLSOptions.Refused: CustomStringConvertible, LocalizedError {
    /// The reason.
    public var description: String { reason }

    /// The reason, which `localizedDescription` shows.
    public var errorDescription: String? { reason }
}

// MARK: - Keys and versions

/// The SHA-256 of a public key's `SubjectPublicKeyInfo`, the usual form of a pin.
///
/// A server's certificate gives it:
///
///     openssl x509 -in certificate.pem -pubkey -noout | openssl pkey -pubin -outform der |
///         openssl dgst -sha256 -binary | base64
public struct PublicKeyHash: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: Data

    /// Makes a hash from its base 64; nil for a text that is not the base 64 of 32 bytes.
    public init?(base64 text: String) {
        guard let bytes = Data(base64Encoded: text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// The base 64 of the bytes.
    public var base64: String { bytes.base64EncodedString() }
}

extension PublicKeyHash: CustomStringConvertible {
    /// The form of HTTP Public Key Pinning, as in `sha256/r/mIkG3e…`.
    public var description: String { "sha256/\(base64)" }
}

/// A version of TLS.
public struct TLSVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number after `1.`, so that versions have an order.
    let minor: Int

    /// TLS 1.2.
    public static let v1_2 = TLSVersion(minor: 2)
    /// TLS 1.3.
    public static let v1_3 = TLSVersion(minor: 3)

    /// Whether the first version is older.
    public static func < (first: TLSVersion, second: TLSVersion) -> Bool { first.minor < second.minor }

    /// The name and the number, as in `TLS 1.3`.
    public var description: String { "TLS 1.\(minor)" }
}
