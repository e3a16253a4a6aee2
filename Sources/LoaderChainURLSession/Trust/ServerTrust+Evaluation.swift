// Type-checked against stand-ins; unverified, since it has not run on an Apple system yet.
#if canImport(Security) && canImport(CryptoKit)
    import CryptoKit
    import Foundation
    import Security

    extension ServerTrust {
        /// The answer to a challenge of the session.
        func answer(
            to challenge: URLAuthenticationChallenge
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                guard case .pinned(let keys) = self, let pins = keys[space.host.lowercased()] else {
                    return (.performDefaultHandling, nil)
                }
                guard let trust = space.serverTrust, SecTrustEvaluateWithError(trust, nil),
                    Self.keyHashes(of: trust).contains(where: { hash in pins.contains { $0.bytes == hash } })
                else { return (.cancelAuthenticationChallenge, nil) }
                return (.useCredential, URLCredential(trust: trust))
            case NSURLAuthenticationMethodClientCertificate:
                return (.performDefaultHandling, nil)
            default:
                // Passwords are the business of loaders in the chain; the 401 is the response.
                return (.rejectProtectionSpace, nil)
            }
        }

        private static func keyHashes(of trust: SecTrust) -> [Data] {
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            return chain.compactMap { certificate in
                guard let key = SecCertificateCopyKey(certificate),
                    let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?,
                    let header = header(of: key)
                else { return nil }
                return Data(SHA256.hash(data: Data(header) + bytes))
            }
        }

        /// The bytes before the key in its `SubjectPublicKeyInfo`, by kind and size.
        private static func header(of key: SecKey) -> [UInt8]? {
            let attributes = SecKeyCopyAttributes(key) as? [CFString: Any]
            let kind = attributes?[kSecAttrKeyType] as? String
            switch (kind, attributes?[kSecAttrKeySizeInBits] as? Int) {
            case (String(kSecAttrKeyTypeRSA), 2048):
                return rsa([0x30, 0x82, 0x01, 0x22], [0x03, 0x82, 0x01, 0x0F, 0])
            case (String(kSecAttrKeyTypeRSA), 3072):
                return rsa([0x30, 0x82, 0x01, 0xA2], [0x03, 0x82, 0x01, 0x8F, 0])
            case (String(kSecAttrKeyTypeRSA), 4096):
                return rsa([0x30, 0x82, 0x02, 0x22], [0x03, 0x82, 0x02, 0x0F, 0])
            case (String(kSecAttrKeyTypeECSECPrimeRandom), 256):
                return [
                    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
                    0x86,
                    0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0,
                ]
            case (String(kSecAttrKeyTypeECSECPrimeRandom), 384):
                return [
                    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B,
                    0x81,
                    0x04, 0, 0x22, 0x03, 0x62, 0,
                ]
            default: return nil
            }
        }

        private static func rsa(_ start: [UInt8], _ end: [UInt8]) -> [UInt8] {
            start + [0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0] + end
        }
    }
#endif
