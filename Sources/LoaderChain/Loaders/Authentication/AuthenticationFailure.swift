/// Why there is no credential, for the tasks that waited for one.
struct AuthenticationFailure: Error {
    var code = HTTPError.Code.authenticationFailed
    var reason: String
    var underlyingError: (any Error)?
    /// Whether the stored credential can never be used again.
    var makesStoredWorthless = false
}
