extension HTTPRequest.Storage {
    /// The key of the row that counts the request.
    var rowKey: RowKey {
        let route = options[RouteOption.self].map { Array(RouteName.withoutSecrets($0).utf8) }
        return RowKey(host: hostKey, method: method, route: route ?? PathTemplate.bytes(of: address.path))
    }
}
