import LoaderChainPlatformFoundation

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
    ///
    /// ```swift
    /// let pin = PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=")
    /// ```
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
