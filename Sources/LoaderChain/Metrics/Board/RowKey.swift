/// What a row of a board is found by.
struct RowKey: Hashable {
    let host: String
    let method: HTTPMethod
    /// The route as bytes: a path is reduced to its template for each request, and the text of it is needed only by readers.
    let route: [UInt8]

    /// All bytes of the route at a time, since an array is hashed byte by byte.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(method)
        route.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
