// Type-checked against stand-ins; unverified, since it has not run on an Apple system yet.
#if canImport(Security) && canImport(CryptoKit)
    import CryptoKit
    import Foundation
    import LoaderChain
    import Security

    extension SessionTrust {
        /// Puts into a configuration what the session does by itself.
        func apply(to configuration: URLSessionConfiguration) {
            guard let version = options.minimumVersion else { return }
            configuration.tlsMinimumSupportedProtocolVersion = version >= .v1_3 ? .TLSv13 : .TLSv12
        }

        /// The answer to a challenge of the session.
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
            default:
                // Passwords are the business of loaders in the chain; the 401 is the response.
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

        // MARK: When the loader is made

        static func anchors(of authorities: CertificateAuthorities) throws(TLSOptions.Refused) -> [SecCertificate] {
            var anchors: [SecCertificate] = []
            for certificate in try authorities.certificates() {
                guard let anchor = SecCertificateCreateWithData(nil, certificate as CFData) else {
                    throw TLSOptions.Refused(
                        "A certificate of the authorities is damaged; look at it with openssl x509")
                }
                anchors.append(anchor)
            }
            return anchors
        }

        static func identity(of certificate: ClientCertificate) throws(TLSOptions.Refused) -> URLCredential? {
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
            // The system promises the type of this item, and a conditional cast to a type of Core Foundation always succeeds.
            let identity = value as! SecIdentity
            let chain = first[kSecImportItemCertChain] as? [SecCertificate]
            return URLCredential(
                identity: identity, certificates: chain.map { Array($0.dropFirst()) }, persistence: .forSession)
        }
    }
#endif
