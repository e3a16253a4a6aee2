extension HTTPRequest {
    /// Whether the request is for this machine itself, which needs no network; false where the host is still to be filled in.
    var isForThisMachine: Bool {
        let host = hostKey
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
