extension HTTPRequest.Storage {
    /// Does something with the key of the row that the request is counted in.
    func withRowKey(_ body: (borrowing RowKey) -> Void) {
        // Field by field, since a copy of the whole address counts references to all of it.
        if let route = options[RouteOption.self] {
            let route = HTTPMetric.withoutSecrets(route)
            RowKey.with(host: hostKey, method: method, route: route, isPath: false, body)
        } else {
            RowKey.with(host: hostKey, method: method, route: address.path, isPath: true, body)
        }
    }
}
