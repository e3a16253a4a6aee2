extension HTTPError.Code {
    /// The user has to sign in: there are no usable credentials.
    public static let authenticationRequired = HTTPError.Code("authenticationRequired")

    /// Credentials could not be obtained; another attempt may succeed.
    public static let authenticationFailed = HTTPError.Code("authenticationFailed")
}

/// Why there is no credential, for the tasks that waited for one.
struct AuthenticationFailure: Error {
    var code = HTTPError.Code.authenticationFailed
    var reason: String
    var underlyingError: (any Error)?
    /// Whether the stored credential can never be used again.
    var makesStoredWorthless = false
}
