/// Whether the bodies of a request and its response are hidden from logs; false by default.
public enum HiddenBodiesOption: HTTPRequestOption {
    /// The bodies may be shown.
    public static var defaultOptionValue: Bool { false }
}

extension HTTPRequest {
    /// Whether the bodies of the request and its response contain secrets, so that a ``PrintLoader`` hides them.
    ///
    /// Set it for a request that signs a user in. ``RefreshTokenFlow`` and ``ClientCredentialsFlow`` set it on theirs.
    /// A loader of your own that logs bodies should respect it too.
    public var hidesBodies: Bool {
        get { self[option: HiddenBodiesOption.self] }
        set { self[option: HiddenBodiesOption.self] = newValue }
    }
}
