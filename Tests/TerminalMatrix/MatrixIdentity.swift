/// How a server identifies itself.
enum MatrixIdentity: CaseIterable, Sendable {
    /// For the right name, signed by the authority that the client trusts.
    case trusted
    /// Signed by an authority that the client does not know.
    case unknownAuthority
    case anotherName
    case expired
    /// With nothing newer than TLS 1.1.
    case oldVersion
    /// Wants a certificate of the client.
    case wantsCertificate
}
