import LoaderChainPlatformFoundation

/// A user and a password for basic authentication.
///
/// They are also an option, for a request with its own credentials:
///
/// ```swift
/// request.basicCredentials = BasicCredentials(user: "zoe", password: password)
/// ```
///
/// Descriptions contain neither of them. Encoding writes both out, for a store that is safe.
public struct BasicCredentials: Hashable, Codable, Sendable {
    private var secretUser: Secret<String>
    private var secretPassword: Secret<String>

    /// Makes credentials; neither part may contain control characters, and the user no colon.
    public init(user: String, password: String) {
        secretUser = Secret(user)
        secretPassword = Secret(password)
    }

    private enum CodingKeys: String, CodingKey {
        case secretUser = "user"
        case secretPassword = "password"
    }

    /// The user's name.
    public var user: String {
        get { secretUser.value }
        set { secretUser.value = newValue }
    }

    /// The password.
    public var password: String {
        get { secretPassword.value }
        set { secretPassword.value = newValue }
    }

    /// The value of the `Authorization` header; throws if the credentials cannot be sent.
    func headerValue() throws(AuthenticationFailure) -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            // The server would read what follows the colon as a part of the password.
            throw Self.refusal("The user of basic credentials cannot have a colon in it")
        }
        guard !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Self.refusal("Basic credentials cannot have control characters in them")
        }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    private static func refusal(_ reason: String) -> AuthenticationFailure {
        AuthenticationFailure(code: .invalidRequest, reason: reason)
    }
}

extension BasicCredentials: CustomStringConvertible {
    /// The type's name, without either part.
    public var description: String { "BasicCredentials(\(Redaction.text))" }
}

extension BasicCredentials: HTTPRequestOption {
    /// None: the credentials of ``BasicAuth`` are used.
    public static var defaultOptionValue: BasicCredentials? { nil }
}

extension HTTPRequest {
    /// The request's own credentials, which a ``BasicAuth`` sends.
    public var basicCredentials: BasicCredentials? {
        get { self[option: BasicCredentials.self] }
        set { self[option: BasicCredentials.self] = newValue }
    }
}

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
