import LoaderChain
import LoaderChainPlatformFoundation

/// The credentials of a writer.
///
/// ```swift
/// let authorizations: [InfluxAuthorization] = [
///     .token(token),  // InfluxDB 2
///     .bearer(token),  // InfluxDB 3
///     .password(password, user: "writer"),  // InfluxDB 1
///     .none,  // the server needs none, or a loader of the chain adds them
/// ]
/// ```
///
/// It is put on each request as it is sent, and no description of it or of the request shows it. Give addresses that begin
/// with `https`: over plain HTTP, anyone on the network path can read it.
public struct InfluxAuthorization: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case none
        case basic(user: Secret<String>, password: Secret<String>)
        case query(user: Secret<String>, password: Secret<String>)
        case header(name: String, scheme: String, Secret<String>)
    }

    let kind: Kind

    /// None: the server needs none, or a loader of the chain, such as `BearerAuth`, adds credentials of its own.
    public static let none = InfluxAuthorization(kind: .none)

    /// A user and a password in the header `Authorization`, for InfluxDB 1 and for gateways.
    public static func password(_ password: String, user: String) -> Self {
        Self(kind: .basic(user: Secret(user), password: Secret(password)))
    }

    /// A user and a password as `u` and `p` in the query, for InfluxDB 1 behind something that keeps the header.
    ///
    /// Servers and proxies write queries to their logs; prefer ``password(_:user:)``.
    public static func passwordInQuery(_ password: String, user: String) -> Self {
        Self(kind: .query(user: Secret(user), password: Secret(password)))
    }

    /// A token as InfluxDB 2 expects it, `Authorization: Token …`.
    ///
    /// InfluxDB 1.8 takes `user:password` for a token.
    public static func token(_ token: String) -> Self {
        Self(kind: .header(name: "Authorization", scheme: "Token", Secret(token)))
    }

    /// A token as InfluxDB 3 expects it, `Authorization: Bearer …`, or a JSON web token for InfluxDB 1.
    public static func bearer(_ token: String) -> Self {
        Self(kind: .header(name: "Authorization", scheme: "Bearer", Secret(token)))
    }

    /// A header of another name with a secret value, for gateways that expect one.
    ///
    /// The name must be one whose value the chain keeps out of logs, as it does with `X-Api-Key`: see
    /// `HTTPHeaders.redacted`. Other headers are for a `ModifyRequest`.
    public static func header(_ name: String, _ value: String) -> Self {
        Self(kind: .header(name: name, scheme: "", Secret(value)))
    }
}

extension InfluxAuthorization {
    /// Puts the credentials on a request.
    func sign(_ request: inout HTTPRequest) {
        switch kind {
        case .none: break  // What the chain brings, if anything.
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
        case .none: break  // Nothing that could be wrong.
        case .basic(let user, let password):
            try InfluxDestinationError.check(user.value, as: .user)
            if user.value.utf8.contains(UInt8(ascii: ":")) {
                // The server would take what follows for a part of the password.
                throw InfluxDestinationError(.user, "cannot have a colon in it when it is sent in a header")
            }
            try InfluxDestinationError.check(password.value, as: .password, mayBeEmpty: true)
        case .query(let user, let password):
            try InfluxDestinationError.check(user.value, as: .user)
            try InfluxDestinationError.check(password.value, as: .password, mayBeEmpty: true)
        case .header(let name, _, let secret):
            try InfluxDestinationError.check(secret.value, as: .token)
            if secret.value != String(decoding: ASCII.trimmed(Array(secret.value.utf8)), as: UTF8.self) {
                throw InfluxDestinationError(.token, "has a space at one of its ends; take it off")
            }
            do { try HTTPHeaders([.init(name, "")]).validate() } catch {
                throw InfluxDestinationError(.header, "has no name that a header can have. \(error)")
            }
            guard HTTPHeaders.isSecret(name) else {
                throw InfluxDestinationError(
                    .header, "has a name that does not sound secret, so its value would be shown in logs")
            }
        }
    }
}

extension InfluxAuthorization: CustomStringConvertible, CustomReflectable {
    /// What kind it is; no secrets.
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
