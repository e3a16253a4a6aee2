extension HTTPError.Code {
    /// Somebody has to sign in: there are no credentials, or none that could still be of use.
    public static let authenticationRequired = HTTPError.Code("authenticationRequired")

    /// Credentials could not be had this time, although there may be some the next time.
    public static let authenticationFailed = HTTPError.Code("authenticationFailed")
}

/// Why there is no credential, as the tasks that waited for it are told.
struct AuthenticationFailure: Error {
    var code = HTTPError.Code.authenticationFailed
    var reason: String
    var underlyingError: (any Error)?
    /// Whether what is in the store can never be of use again.
    var makesStoredWorthless = false
}
