extension HTTPMetric {
    /// The attributes that OpenTelemetry's conventions for HTTP clients define for this request.
    ///
    /// Unknown values are left out. The guide on metrics has the table, and lists what the conventions do not cover.
    public var openTelemetryAttributes: [String: String] {
        var attributes = [
            "http.request.method": method.rawValue,
            "url.scheme": scheme,
            "server.address": host,
            "url.template": route,
        ]
        if let port { attributes["server.port"] = "\(port)" }
        if let status { attributes["http.response.status_code"] = "\(status.rawValue)" }
        // A cancel by the caller is no error (since 1.41), and neither is a reset.
        if outcome.kind.isError { attributes["error.type"] = outcome.errorType }
        if attempts > 1 { attributes["http.request.resend_count"] = "\(attempts - 1)" }
        if let bytesSent { attributes["http.request.body.size"] = "\(bytesSent)" }
        if let bytesReceived { attributes["http.response.body.size"] = "\(bytesReceived)" }
        if let networkProtocol {
            let parts = Self.nameAndVersion(of: networkProtocol)
            attributes["network.protocol.name"] = parts.name
            attributes["network.protocol.version"] = parts.version
        }
        return attributes
    }

    /// Splits `http/1.1`, and the names that TLS has for later versions, into name and version.
    private static func nameAndVersion(of networkProtocol: String) -> (name: String, version: String?) {
        switch networkProtocol.lowercased() {
        case "h2", "h2c": return ("http", "2")
        case "h3": return ("http", "3")
        case let text:
            let parts = text.split(separator: "/", maxSplits: 1)
            return (parts.first.map(String.init) ?? text, parts.count > 1 ? String(parts[1]) : nil)
        }
    }
}
