extension HTTPRequest {
    /// Whether the request goes over TLS, or does not leave this machine.
    package var isConfidential: Bool {
        if ASCII.isEqualIgnoringCase(scheme, "https") { return true }
        guard let host = host?.lowercased() else { return false }
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        // A name such as 127.example.com can belong to another machine.
        return host.hasPrefix("127.") && host.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }
}
