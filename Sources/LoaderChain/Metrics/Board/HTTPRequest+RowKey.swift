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
