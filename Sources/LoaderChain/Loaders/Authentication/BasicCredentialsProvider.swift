/// Provides a user and a password, usually by asking the user.
///
/// It is asked once at a time, for any number of tasks that wait for the answer, and may take any time. When the loader
/// is reset, the Swift task that it runs in is cancelled.
///
/// ```swift
/// struct FixedCredentials: BasicCredentialsProvider {
///     let fixed: BasicCredentials
///     func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials? {
///         // Asked a second time, it has no others.
///         rejected == nil ? fixed : nil
///     }
/// }
/// ```
public protocol BasicCredentialsProvider: Sendable {
    /// Returns the credentials to use; nil if there are none, which fails the tasks that wait.
    ///
    /// - Parameter rejected: the credentials that the server has just refused; nil if there were none.
    func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials?
}
