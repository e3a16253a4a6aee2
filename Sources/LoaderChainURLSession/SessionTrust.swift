import Foundation
import LoaderChain

#if canImport(Security) && canImport(CryptoKit)
    import CryptoKit
    import Security
#endif

/// The TLS options, prepared for a session when its loader is created.
struct SessionTrust: @unchecked Sendable {
    let options: TLSOptions

    #if canImport(Security) && canImport(CryptoKit)
        // System objects that never change, so they are safe to send.
        /// The certificates of the app's own authorities.
        let anchors: [SecCertificate]
        let clientIdentity: URLCredential?
    #endif

    init(_ options: TLSOptions) throws(TLSOptions.Refused) {
        try options.check(
            for: "URLSession on this system", supporting: Self.supported,
            otherwise: "use another terminal, such as one over libcurl")
        self.options = options
        #if canImport(Security) && canImport(CryptoKit)
            anchors = try Self.anchors(of: options.authorities)
            clientIdentity = try options.clientCertificate.flatMap(Self.identity)
        #endif
    }

    /// The system's own behavior.
    private init() {
        options = TLSOptions()
        #if canImport(Security) && canImport(CryptoKit)
            anchors = []
            clientIdentity = nil
        #endif
    }

    static let system = SessionTrust()

    private static var supported: Set<TLSOptions.Feature> {
        #if canImport(Security) && canImport(CryptoKit)
            [.onlyOwnAuthorities, .additionalAuthorities, .pkcs12ClientCertificate, .pins, .minimumVersion]
        #else
            // The session neither asks about a server's certificate nor has settings for TLS.
            []
        #endif
    }
}

// MARK: - On Apple systems

// Type-checked against stubs; unverified, since it has not run on an Apple system yet.
#if canImport(Security) && canImport(CryptoKit)
    extension SessionTrust {
        /// Applies the options that the session supports by itself to a configuration.
        func apply(to configuration: URLSessionConfiguration) {
            guard let version = options.minimumVersion else { return }
            configuration.tlsMinimumSupportedProtocolVersion = version >= .v1_3 ? .TLSv13 : .TLSv12
        }

        func answer(
            to challenge: URLAuthenticationChallenge
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                let pins = options.pins(for: space.host)
                if pins == nil, anchors.isEmpty { return (.performDefaultHandling, nil) }
                guard let trust = space.serverTrust, isTrusted(trust), pins.map({ Self.has(trust, oneOf: $0) }) ?? true
                else { return (.cancelAuthenticationChallenge, nil) }
                return (.useCredential, URLCredential(trust: trust))
            case NSURLAuthenticationMethodClientCertificate:
                guard let clientIdentity else { return (.performDefaultHandling, nil) }
                return (.useCredential, clientIdentity)
            case _ where space.isProxy():
                // The system keeps the password of a proxy.
                return (.performDefaultHandling, nil)
            default:
                // Passwords are handled by loaders in the chain; the 401 is the response.
                return (.rejectProtectionSpace, nil)
            }
        }

        private func isTrusted(_ trust: SecTrust) -> Bool {
            if !anchors.isEmpty {
                guard SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
                    SecTrustSetAnchorCertificatesOnly(trust, !options.authorities.includesSystem) == errSecSuccess
                else { return false }
            }
            return SecTrustEvaluateWithError(trust, nil)
        }

        private static func has(_ trust: SecTrust, oneOf pins: Set<PublicKeyHash>) -> Bool {
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
            guard let server = chain?.first, let info = publicKeyInfo(of: server) else { return false }
            let hash = Data(SHA256.hash(data: info))
            return pins.contains { $0.bytes == hash }
        }

        private static func publicKeyInfo(of certificate: SecCertificate) -> Data? {
            guard let key = SecCertificateCopyKey(certificate),
                let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?,
                let attributes = SecKeyCopyAttributes(key) as? [CFString: Any],
                let bits = attributes[kSecAttrKeySizeInBits] as? Int
            else { return nil }
            switch attributes[kSecAttrKeyType] as? String {
            case String(kSecAttrKeyTypeRSA): return SubjectPublicKeyInfo.rsa(bytes)
            case String(kSecAttrKeyTypeECSECPrimeRandom):
                return SubjectPublicKeyInfo.ellipticCurve(bytes, bits: bits)
            default: return nil
            }
        }

        // MARK: Preparation

        private static func anchors(
            of authorities: CertificateAuthorities
        ) throws(TLSOptions.Refused) -> [SecCertificate] {
            var anchors: [SecCertificate] = []
            for certificate in try authorities.certificates() {
                guard let anchor = SecCertificateCreateWithData(nil, certificate as CFData) else {
                    throw TLSOptions.Refused(
                        "A certificate of the authorities is damaged; inspect it with openssl x509")
                }
                anchors.append(anchor)
            }
            return anchors
        }

        private static func identity(of certificate: ClientCertificate) throws(TLSOptions.Refused) -> URLCredential? {
            guard let archive = try certificate.archive?.bytes() else { return nil }
            let options: [CFString: Any] = [
                kSecImportExportPassphrase: certificate.passphrase ?? "",
                // Otherwise a Mac would put the key into the user's keychain.
                kSecImportToMemoryOnly: true,
            ]
            var found: CFArray?
            let status = SecPKCS12Import(archive as CFData, options as CFDictionary, &found)
            let items = found as? [[CFString: Any]]
            guard status == errSecSuccess, let first = items?.first, let value = first[kSecImportItemIdentity] else {
                throw TLSOptions.Refused(
                    "The PKCS#12 archive of the client certificate could not be opened: system error \(status); check the passphrase"
                )
            }
            // The system guarantees the type of this item, and a conditional cast to a Core Foundation type always succeeds.
            let identity = value as! SecIdentity
            let chain = first[kSecImportItemCertChain] as? [SecCertificate]
            return URLCredential(
                identity: identity, certificates: chain.map { Array($0.dropFirst()) }, persistence: .forSession)
        }
    }
#endif

/// A public key with its algorithm, as in certificates and pins (RFC 5280, section 4.1); Apple's Security framework omits the algorithm.
enum SubjectPublicKeyInfo {
    /// Encodes an RSA key, of any size.
    static func rsa(_ key: Data) -> Data {
        info([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], [0x05, 0x00], key)
    }

    /// Encodes a key of a NIST curve; nil for a size that no such curve has.
    static func ellipticCurve(_ key: Data, bits: Int) -> Data? {
        let curve: [UInt8]
        switch bits {
        case 256: curve = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case 384: curve = [0x2B, 0x81, 0x04, 0x00, 0x22]
        case 521: curve = [0x2B, 0x81, 0x04, 0x00, 0x23]
        default: return nil
        }
        return info([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01], tagged(0x06, curve), key)
    }

    private static func info(_ kind: [UInt8], _ parameters: [UInt8], _ key: Data) -> Data {
        // A bit string begins with the number of unused bits in its last byte.
        Data(tagged(0x30, tagged(0x30, tagged(0x06, kind) + parameters) + tagged(0x03, [0] + key)))
    }

    /// A DER value with its tag and length.
    private static func tagged(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        guard value.count >= 0x80 else { return [tag, UInt8(value.count)] + value }
        var length: [UInt8] = []
        var rest = value.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + value
    }
}
