/// Somebody who can be asked for a user and a password, usually by asking the user.
///
/// One question is put at a time, for any number of tasks that wait for its answer. It may take as long as it takes. When
/// the loader is reset, the Swift task that it runs in is cancelled.
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
    /// - Parameter rejected: credentials that a server has just refused, if that is why there is a question.
    func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials?
}
