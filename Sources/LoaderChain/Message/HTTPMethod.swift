/// The method of a request: `GET`, `POST`, or any other token.
///
/// It is a struct, not an enum, so that methods unknown to this library pass through. Case matters: `get` is not `GET`.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The method as it goes over the wire.
    public let rawValue: String

    /// The method of that name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The method of that name.
    public init(_ name: String) { rawValue = name }

    /// Whether the method may be sent: its name is a token of RFC 9110.
    package var isToken: Bool { ASCII.isToken(rawValue) }

    /// Whether the method only reads, and changes nothing on the server.
    ///
    /// A method unknown to this library counts as unsafe.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }

    /// Whether sending the request twice has the same effect as sending it once, so that it may be repeated.
    ///
    /// A method unknown to this library counts as not idempotent.
    public var isIdempotent: Bool {
        switch self {
        case .put, .delete: true
        default: isSafe
        }
    }
}

extension HTTPMethod {
    /// Asks for a resource.
    public static let get = HTTPMethod("GET")
    /// Asks for a resource's headers alone.
    public static let head = HTTPMethod("HEAD")
    /// Hands the resource something to process.
    public static let post = HTTPMethod("POST")
    /// Replaces the resource.
    public static let put = HTTPMethod("PUT")
    /// Removes the resource.
    public static let delete = HTTPMethod("DELETE")
    /// Changes parts of the resource.
    public static let patch = HTTPMethod("PATCH")
    /// Opens a tunnel.
    public static let connect = HTTPMethod("CONNECT")
    /// Asks what may be done with the resource.
    public static let options = HTTPMethod("OPTIONS")
    /// Asks for the request to be echoed.
    public static let trace = HTTPMethod("TRACE")
}

extension HTTPMethod: ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method as written.
    public init(stringLiteral value: String) { rawValue = value }

    /// The method as it goes over the wire, with control characters escaped.
    public var description: String { ASCII.printable(rawValue) }
}
