import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which servers are trusted.
public enum ServerTrust: Sendable {
    /// Those that the platform trusts.
    case platform

    /// Those that the platform trusts, as long as a server of one of these hosts shows one of its public keys.
    ///
    /// Hosts are written in lower case and match exactly. A host that is not among them is as with ``platform``.
    ///
    /// It needs an Apple system. Elsewhere the session does not show the server's keys, and a request to one of these
    /// hosts fails with `HTTPError.Code.insecureConnection`: it is never sent with less protection than was asked for.
    case pinned([String: Set<PublicKeyHash>])

    /// Why a request may not even be tried.
    func reasonNotToConnect(to request: HTTPRequest) -> String? {
        guard case .pinned(let keys) = self, let host = request.host?.lowercased(), keys[host] != nil else {
            return nil
        }
        if request.scheme.lowercased() != "https" { return "The host has pinned keys, and the scheme is not https" }
        #if canImport(Security) && canImport(CryptoKit)
            return nil
        #else
            return "Keys cannot be pinned on this platform; trust the platform, or connect by another terminal"
        #endif
    }
}

/// The SHA-256 of a public key, as pins are usually written: of its whole `SubjectPublicKeyInfo`, in base 64.
public struct PublicKeyHash: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: Data

    /// Reads a hash; nil for a text that is not the base 64 of 32 bytes.
    ///
    /// ```swift
    /// let pin = PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=")
    /// ```
    public init?(base64 text: String) {
        guard let bytes = Data(base64Encoded: text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}
