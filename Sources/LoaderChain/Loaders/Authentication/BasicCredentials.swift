#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A user and a password, for the scheme that sends both with every request.
///
/// It is a request's option as well, for a request that brings its own:
///
/// ```swift
/// request.basicCredentials = BasicCredentials(user: "zoe", password: password)
/// ```
///
/// No text made of it holds either. Encoding it writes both out, for a store that keeps it in a safe place.
public struct BasicCredentials: Hashable, Codable, Sendable {
    private var secretUser: Secret<String>
    private var secretPassword: Secret<String>

    /// Makes credentials; neither part may hold control characters, nor the user a colon.
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

    /// The value of the header that carries them, or why none can.
    func headerValue() throws(AuthenticationFailure) -> String {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            // The server would take what follows the colon for a part of the password.
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

extension BasicCredentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// The type's name, without either part.
    public var description: String { "BasicCredentials(\(Redaction.text))" }

    /// The type's name, without either part.
    public var debugDescription: String { description }
}

extension BasicCredentials: HTTPRequestOption {
    /// None: a ``BasicAuth`` brings its own.
    public static var defaultOptionValue: BasicCredentials? { nil }
}

extension HTTPRequest {
    /// The credentials that the request brings itself, for a ``BasicAuth`` to send.
    public var basicCredentials: BasicCredentials? {
        get { self[option: BasicCredentials.self] }
        set { self[option: BasicCredentials.self] = newValue }
    }
}
