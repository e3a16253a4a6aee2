extension Deduplicate {
    /// What makes two requests the same.
    public struct Key: Hashable, Sendable {
        private enum Content: Hashable {
            case text(String)
            case request(HTTPMethod, address: String, HTTPHeaders, [ResponseCheck?], BasicCredentials?)
        }
        private let content: Content

        /// Makes a key of your own, which is never equal to a ``standard(for:ignoring:)`` key.
        public init(_ text: String) { content = .text(text) }

        /// The standard key; nil for a request that is never shared, because it has a body or an unsafe method.
        ///
        /// Two `GET` or two `HEAD` requests have the same key if their URL, headers, ``HTTPRequest/basicCredentials``,
        /// ``HTTPRequest/responseCheck`` and type to decode are the same.
        ///
        /// - Parameters:
        ///   - request: the request.
        ///   - ignored: the names of headers to ignore, in any case.
        public static func standard(
            for request: HTTPRequest, ignoring ignored: [String] = Deduplicate.ignoredHeaders
        ) -> Key? {
            guard request.method == .get || request.method == .head, request.body.isEmpty,
                let address = request.storage.address.text(showing: .shown)
            else { return nil }
            let headers = request.headers.filter { field in !ignored.contains { field.isNamed($0) } }
            // Requests with different checks must not share a result.
            let checks = [request.responseCheck, request.decodingCheck]
            // Requests of different users must not either: a loader below turns these credentials into a header.
            let credentials = request.basicCredentials
            return Key(content: .request(request.method, address: address, HTTPHeaders(headers), checks, credentials))
        }

        private init(content: Content) { self.content = content }
    }

    /// The headers that the standard key ignores: those that number or trace requests.
    public static let ignoredHeaders = [
        "traceparent", "tracestate", "b3", "X-Request-ID", "X-Correlation-ID", "X-Trace-ID",
    ]
}
