/// The name that a request gives its route, which may be a whole address with secrets in it.
enum RouteName {
    /// The name without its query, its fragment, its user and its password.
    static func withoutSecrets(_ route: String) -> String {
        let bytes = route.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        guard let authority = bytes[..<end].firstRange(of: "://".utf8)?.upperBound else {
            return end == bytes.endIndex ? route : String(route[..<end])
        }
        let path = bytes[authority..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
        // User and password end at the last at sign before the path.
        let host = bytes[authority..<path].lastIndex(of: UInt8(ascii: "@")).map(bytes.index(after:)) ?? authority
        return String(route[..<authority]) + String(route[host..<end])
    }
}
