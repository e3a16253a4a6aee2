extension ServerEnvironment {
    /// The request with everything filled in, or nil if nothing is missing.
    ///
    /// The checks allocate nothing, so that a complete request costs little.
    func filled(_ request: HTTPRequest) -> HTTPRequest? {
        let lacksHost = request.storage.address.lacksHost && !host.isEmpty
        let hasRelativePath = request.path.utf8.first != UInt8(ascii: "/")
        let lacksHeaders = headers.contains { !request.headers.contains($0.name) }
        let lacksQuery = query.contains { !Self.query(request.query, hasItemNamed: $0.name) }
        guard lacksHost || hasRelativePath || lacksHeaders || lacksQuery else { return nil }

        var filled = request
        if lacksHost { fillAuthority(of: &filled) }
        if hasRelativePath { filled.path = absolute(request.path) }
        if lacksHeaders { filled.headers.merge(filling: headers) }
        if lacksQuery { fillQuery(of: &filled) }
        return filled
    }

    private func fillAuthority(of request: inout HTTPRequest) {
        request.host = host
        if let scheme { request.scheme = scheme }
        if request.port == nil { request.port = port }
    }

    /// The path after the prefix, with a slash before each of them.
    private func absolute(_ path: String) -> String {
        let prefix = pathPrefix.drop { $0 == "/" }
        if prefix.isEmpty { return "/" + path }
        return path.isEmpty || prefix.last == "/" ? "/\(prefix)\(path)" : "/\(prefix)/\(path)"
    }

    /// Appends missing items; existing ones stay as they are written.
    private func fillQuery(of request: inout HTTPRequest) {
        let present = request.query
        var added = RequestAddress()
        added.queryItems = query.filter { !Self.query(present, hasItemNamed: $0.name) }
        request.query = [present ?? "", added.query ?? ""].filter { !$0.isEmpty }.joined(separator: "&")
    }

    private static func query(_ query: String?, hasItemNamed name: String) -> Bool {
        guard let query else { return false }
        var rest = Substring(query).utf8
        while !rest.isEmpty {
            let item = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[item.endIndex...].dropFirst()
            let written = item.prefix { $0 != UInt8(ascii: "=") }
            if written.isEmpty, item.isEmpty { continue }
            if written.elementsEqual(name.utf8) { return true }
            // Only a name with an escape can be written in several ways.
            if written.contains(UInt8(ascii: "%")), PercentEncoding.decode(Substring(written)) == name { return true }
        }
        return false
    }
}
