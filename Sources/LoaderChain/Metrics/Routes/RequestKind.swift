/// The requests that can be expected to take equally long: those to one route of one server, with one method.
///
/// It is a hash of them, made without a copy of the route, as each request makes one. That two kinds are one by chance does no harm.
struct RequestKind: Hashable {
    private let hash: Int

    init(_ request: HTTPRequest) {
        var hasher = Hasher()
        let origin = request.origin
        hasher.combine(utf8: origin.host)
        hasher.combine(origin.port ?? 0)
        hasher.combine(utf8: request.method.rawValue)
        if let route = request.route {
            hasher.combine(utf8: RouteName.withoutSecrets(route))
        } else {
            PathTemplate.withBytes(of: request.path) { hasher.combine(bytes: $0) }
        }
        hash = hasher.finalize()
    }
}

extension Hasher {
    /// Hashes the bytes of a text, for which characters need not be told apart.
    fileprivate mutating func combine(utf8 text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
