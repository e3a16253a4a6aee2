/// Whether the bodies of a request and its response are kept from those who print or log them; false, the default, if not.
public enum HiddenBodiesOption: HTTPRequestOption {
    /// They may be shown.
    public static var defaultOptionValue: Bool { false }
}

extension HTTPRequest {
    /// Whether the bodies of the request and its response hold secrets, and are not to be shown by a ``PrintLoader``.
    ///
    /// Set it for a request that signs somebody in. Those that ``RefreshTokenFlow`` and ``ClientCredentialsFlow`` make have
    /// it set. A loader of your own that writes bodies down should go by it too.
    public var hidesBodies: Bool {
        get { self[option: HiddenBodiesOption.self] }
        set { self[option: HiddenBodiesOption.self] = newValue }
    }
}
