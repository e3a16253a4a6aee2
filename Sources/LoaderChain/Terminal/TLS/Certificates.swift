import LoaderChainPlatformFoundation

/// The authorities whose certificates a terminal trusts.
public struct CertificateAuthorities: Hashable, Sendable {
    /// Whether the authorities of the system are trusted too.
    public let includesSystem: Bool

    /// Certificates of authorities that are trusted in addition to those of the system, or instead of them; each item may hold
    /// several.
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

    /// Returns the additional certificates, each as DER.
    ///
    /// - Throws: if a file cannot be read, or an item holds no certificate.
    public func certificates() throws(TLSOptions.Refused) -> [Data] {
        var all: [Data] = []
        for material in own { all += try PEM.certificates(in: material) }
        return all
    }
}

extension CertificateAuthorities: CustomStringConvertible {
    /// The sources of the certificates.
    public var description: String {
        ((includesSystem ? ["system"] : []) + own.map(\.description)).joined(separator: " and ")
    }
}

/// The certificate of a client with its private key.
///
/// ```swift
/// func identify(by archive: URL, passphrase: String) -> TLSOptions {
///     var tls = TLSOptions()
///     tls.clientCertificate = .pkcs12(.file(archive), passphrase: passphrase)
///     return tls
/// }
/// ```
///
/// Descriptions contain neither the key nor the passphrase.
public struct ClientCertificate: Hashable, Sendable {
    private let form: Form
    private let secretPassphrase: Secret<String?>

    private enum Form: Hashable {
        case pem(certificate: TLSMaterial, key: TLSMaterial)
        case pkcs12(TLSMaterial)
    }

    /// A certificate and a key as PEM, as most servers' programs keep them.
    ///
    /// - Parameters:
    ///   - certificate: the client's certificate; those between it and the authority may follow it.
    ///   - key: the private key; it may be in the same file.
    ///   - passphrase: the passphrase of the key, if it is encrypted.
    public static func pem(
        certificate: TLSMaterial, key: TLSMaterial, passphrase: String? = nil
    ) -> ClientCertificate {
        ClientCertificate(form: .pem(certificate: certificate, key: key), secretPassphrase: Secret(passphrase))
    }

    /// A certificate and a key in a PKCS#12 archive, a file whose name ends in `.p12` or `.pfx`.
    public static func pkcs12(_ archive: TLSMaterial, passphrase: String) -> ClientCertificate {
        ClientCertificate(form: .pkcs12(archive), secretPassphrase: Secret(passphrase))
    }

    /// The certificate and the key, if they are PEM.
    public var pem: (certificate: TLSMaterial, key: TLSMaterial)? {
        if case .pem(let certificate, let key) = form { (certificate, key) } else { nil }
    }

    /// The PKCS#12 archive, if they are in one.
    public var archive: TLSMaterial? {
        if case .pkcs12(let archive) = form { archive } else { nil }
    }

    /// The passphrase of the key; nil if it is not encrypted.
    public var passphrase: String? { secretPassphrase.value }
}

extension ClientCertificate: CustomStringConvertible {
    /// The form, and the source.
    public var description: String {
        switch form {
        case .pem(let certificate, _): "PEM, \(certificate)"
        case .pkcs12(let archive): "PKCS#12, \(archive)"
        }
    }
}

extension ClientCertificate {
    /// Checks that there is a certificate and a key, by their outer form.
    func check() throws(TLSOptions.Refused) {
        switch form {
        case .pem(let certificate, let key):
            _ = try PEM.certificates(in: certificate)
            guard PEM.blocks(in: try key.bytes()).contains(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
                throw TLSOptions.Refused("No private key found in \(key); give a key as PEM")
            }
        case .pkcs12(let archive):
            // Some programs write an open length, so checking more would mean reading all of it.
            guard try archive.bytes().first == 0x30 else {
                throw TLSOptions.Refused("No PKCS#12 archive found in \(archive)")
            }
        }
    }
}
