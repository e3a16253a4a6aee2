/// The key of a row of a board.
struct RowKey: Hashable {
    let host: String
    let method: HTTPMethod
    /// The route as bytes: each request makes one of its path, and only readers of the board need the text.
    let route: [UInt8]

    /// Hashes all bytes of the route at once, because an array is hashed byte by byte.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(method)
        route.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension HTTPRequest.Storage {
    /// The key of the row that counts the request.
    var rowKey: RowKey {
        let route = options[RouteOption.self].map { Array(RouteName.withoutSecrets($0).utf8) }
        return RowKey(host: hostKey, method: method, route: route ?? PathTemplate.bytes(of: address.path))
    }
}

extension HTTPRequest {
    /// The name of the request's route in metrics: ``route`` without secrets, or else the path with placeholders.
    ///
    /// A loader that counts requests by their route uses it, so that the number of its names stays small.
    public var routeInMetrics: String { route.map(RouteName.withoutSecrets) ?? PathTemplate.of(path) }
}
