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
