import LoaderChainPlatformFoundation

extension TLSOptions {
    /// Something that options ask of a terminal, and that not every terminal can do.
    public struct Feature: Hashable, Sendable, CustomStringConvertible {
        /// The words of a reason.
        public let description: String
        /// What to do where it is missing.
        private let advice: String?

        private init(_ description: String, advice: String? = nil) {
            self.description = description
            self.advice = advice
        }

        /// Trusting authorities of one's own, and none of the system.
        public static let onlyOwnAuthorities = Feature("trust authorities of your own instead of the system's")
        /// Trusting authorities of one's own beside those of the system.
        public static let additionalAuthorities = Feature("trust authorities of your own beside the system's")
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

    /// What the options ask for beyond the system's own behavior.
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
    /// A terminal calls this when it is made:
    ///
    /// ```swift
    /// var tls = TLSOptions()
    /// tls.minimumVersion = .v1_3
    /// try tls.check(for: "This system's URLSession", supporting: [.pins, .minimumVersion])
    /// ```
    ///
    /// - Parameters:
    ///   - terminal: the terminal, as the subject of a sentence.
    ///   - supported: what it can do.
    ///   - advice: what to do about all else, as a clause.
    /// - Throws: if the terminal cannot do something, a file cannot be read, there is no certificate where one should be, or a
    ///   host of the pins is not one or has no key.
    public func check(
        for terminal: String, supporting supported: Set<Feature>, otherwise advice: String = "use another terminal"
    ) throws(Refused) {
        let missing = features.subtracting(supported).sorted { $0.description < $1.description }
        if let feature = missing.first {
            throw Refused("\(terminal) cannot \(feature); \(feature.advice(among: supported) ?? advice)")
        }
        guard authorities.includesSystem || !authorities.own.isEmpty else {
            throw Refused("No authority is trusted, so that no server could be; name one, or trust the system's")
        }
        _ = try authorities.certificates()
        try clientCertificate?.check()
        for (host, keys) in pins.sorted(by: { $0.key < $1.key }) {
            guard !keys.isEmpty else {
                throw Refused("The host \(host) has an empty set of pins; leave it out, or add a key")
            }
            guard Self.isHost(host) else {
                throw Refused(
                    "Keys are pinned to \"\(ASCII.printable(String(host.prefix(100))))\", which is not a valid host; write it as in a URL, without scheme, port and path"
                )
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

    /// Thrown where a terminal cannot be made with these options.
    public struct Refused: Error, Hashable, Sendable {
        /// What cannot be done, and what to do instead, as a sentence.
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
