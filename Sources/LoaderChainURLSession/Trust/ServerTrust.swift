// Trust: which servers are trusted. It uses no other folder.

import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which servers the loader trusts.
public enum ServerTrust: Sendable {
    /// Servers that the platform trusts.
    case platform

    /// Servers that the platform trusts, if a server of one of these hosts also has one of the host's public keys.
    ///
    /// Hosts are written in lower case and match exactly. Any other host is treated as with ``platform``.
    ///
    /// Pinning needs an Apple system. Elsewhere the session does not expose the server's keys, and a request to one of
    /// these hosts fails with `HTTPError.Code.insecureConnection`: it is never sent with less protection than you asked
    /// for.
    case pinned([String: Set<PublicKeyHash>])

    /// Why a request must not be sent; nil if it may be.
    func reasonNotToConnect(to request: HTTPRequest) -> String? {
        guard case .pinned(let keys) = self, let host = request.host?.lowercased(), keys[host] != nil else {
            return nil
        }
        if request.scheme.lowercased() != "https" { return "The host has pinned keys, and the scheme is not https" }
        #if canImport(Security) && canImport(CryptoKit)
            return nil
        #else
            return "Keys cannot be pinned on this platform; use the platform's trust, or another terminal"
        #endif
    }
}

/// The SHA-256 of a public key's `SubjectPublicKeyInfo`, the usual form of a pin.
public struct PublicKeyHash: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: Data

    /// Makes a hash from its base 64; nil for a text that is not the base 64 of 32 bytes.
    ///
    /// ```swift
    /// let pin = PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=")
    /// ```
    public init?(base64 text: String) {
        guard let bytes = Data(base64Encoded: text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}
