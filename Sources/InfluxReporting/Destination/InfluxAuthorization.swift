import LoaderChain
import LoaderChainPlatformFoundation

/// The credentials of a writer.
///
/// ```swift
/// let authorizations: [InfluxAuthorization] = [
///     .token(token),  // InfluxDB 2
///     .bearer(token),  // InfluxDB 3
///     .password(password, user: "writer"),  // InfluxDB 1
///     .none,  // an open server, or a loader of the chain adds credentials
/// ]
/// ```
///
/// The credentials are added to each request as it is sent, and no description of them or of the request shows them. Use `https`
/// addresses: over plain HTTP, anyone on the network path can read the credentials.
public struct InfluxAuthorization: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case none
        case basic(user: Secret<String>, password: Secret<String>)
        case query(user: Secret<String>, password: Secret<String>)
        case header(name: String, scheme: String, Secret<String>)
    }

    let kind: Kind

    /// No credentials, for an open server, or for a chain whose loader, such as `BearerAuth`, adds them.
    public static let none = InfluxAuthorization(kind: .none)

    /// A user and a password in the header `Authorization`, for InfluxDB 1 and for gateways.
    public static func password(_ password: String, user: String) -> Self {
        Self(kind: .basic(user: Secret(user), password: Secret(password)))
    }

    /// A user and a password as `u` and `p` in the query, for InfluxDB 1 behind a gateway that does not forward the header.
    ///
    /// Servers and proxies write queries to their logs; prefer ``password(_:user:)``.
    public static func passwordInQuery(_ password: String, user: String) -> Self {
        Self(kind: .query(user: Secret(user), password: Secret(password)))
    }

    /// A token as InfluxDB 2 expects it, `Authorization: Token …`.
    ///
    /// InfluxDB 1.8 accepts `user:password` as a token.
    public static func token(_ token: String) -> Self {
        Self(kind: .header(name: "Authorization", scheme: "Token", Secret(token)))
    }

    /// A token as InfluxDB 3 expects it, `Authorization: Bearer …`, or a JSON web token for InfluxDB 1.
    public static func bearer(_ token: String) -> Self {
        Self(kind: .header(name: "Authorization", scheme: "Bearer", Secret(token)))
    }

    /// A custom header with a secret value, for gateways.
    ///
    /// Its name must be recognized as secret, so that the chain redacts the value in logs; for example, `X-Api-Key` is. See
    /// `HTTPHeaders.redacted`. Use `ModifyRequest` for other headers.
    public static func header(_ name: String, _ value: String) -> Self {
        Self(kind: .header(name: name, scheme: "", Secret(value)))
    }
}

extension InfluxAuthorization {
    func sign(_ request: inout HTTPRequest) {
        switch kind {
        case .none: break  // The chain adds credentials, if any.
        case .basic(let user, let password):
            let pair = Data("\(user.value):\(password.value)".utf8)
            request.headers["Authorization"] = "Basic " + pair.base64EncodedString()
        case .query(let user, let password):
            request.queryItems += [HTTPQueryItem("u", user.value), HTTPQueryItem("p", password.value)]
        case .header(let name, let scheme, let secret):
            request.headers[name] = scheme.isEmpty ? secret.value : "\(scheme) \(secret.value)"
        }
    }

    /// Throws for credentials that cannot be sent.
    func check() throws(InfluxDestinationError) {
        switch kind {
        case .none: break  // Nothing to check.
        case .basic(let user, let password):
            try InfluxDestinationError.check(user.value, as: .user)
            if user.value.utf8.contains(UInt8(ascii: ":")) {
                // The server would treat the rest of the name as a part of the password.
                throw InfluxDestinationError(.user, "cannot contain a colon when it is sent in a header")
            }
            try InfluxDestinationError.check(password.value, as: .password, mayBeEmpty: true)
        case .query(let user, let password):
            try InfluxDestinationError.check(user.value, as: .user)
            try InfluxDestinationError.check(password.value, as: .password, mayBeEmpty: true)
        case .header(let name, _, let secret):
            try InfluxDestinationError.check(secret.value, as: .token)
            if secret.value != String(decoding: ASCII.trimmed(Array(secret.value.utf8)), as: UTF8.self) {
                throw InfluxDestinationError(.token, "begins or ends with a space; remove it")
            }
            do { try HTTPHeaders([.init(name, "")]).validate() } catch {
                throw InfluxDestinationError(.header, "has an invalid name. \(error)")
            }
            guard HTTPHeaders.isSecret(name) else {
                throw InfluxDestinationError(
                    .header, "has a name that is not recognized as secret, so its value would appear in logs")
            }
        }
    }
}

extension InfluxAuthorization: CustomStringConvertible, CustomReflectable {
    /// The kind of credentials, without secrets.
    public var description: String {
        switch kind {
        case .none: "none"
        case .basic: "a user and a password"
        case .query: "a user and a password in the query"
        case .header(let name, let scheme, _): "\(name): \(scheme.isEmpty ? "" : scheme + " ")<redacted>"
        }
    }

    /// The description, for debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .struct) }
}
