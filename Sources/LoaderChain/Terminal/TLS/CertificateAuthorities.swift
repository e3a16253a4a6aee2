import LoaderChainPlatformFoundation

/// The authorities whose certificates a terminal trusts.
///
/// ```swift
/// var tls = TLSOptions()
/// tls.authorities = .only(.file(URL(filePath: "/etc/company/authority.pem")))
/// ```
public struct CertificateAuthorities: Hashable, Sendable {
    /// Whether the authorities of the system are trusted too.
    public let includesSystem: Bool

    /// Certificates of authorities beside those of the system, or in their place; each item may hold several.
    public let own: [TLSMaterial]

    /// Those of the system.
    public static let system = CertificateAuthorities(includesSystem: true, own: [])

    /// These, and none of the system.
    public static func only(_ own: TLSMaterial...) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: false, own: own)
    }

    /// Those of the system, and these.
    public static func systemAnd(_ own: TLSMaterial...) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: true, own: own)
    }

    /// Returns the certificates of one's own, each as DER.
    ///
    /// - Throws: if a file cannot be read, or an item holds no certificate.
    public func certificates() throws(TLSOptions.Refused) -> [Data] {
        var all: [Data] = []
        for material in own { all += try PEM.certificates(in: material) }
        return all
    }
}

extension CertificateAuthorities: CustomStringConvertible, CustomDebugStringConvertible {
    /// Where the certificates come from.
    public var description: String {
        ((includesSystem ? ["system"] : []) + own.map(\.description)).joined(separator: " and ")
    }

    /// The same as the description.
    public var debugDescription: String { description }
}
