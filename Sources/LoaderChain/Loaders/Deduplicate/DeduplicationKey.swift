extension Deduplicate {
    /// What makes two requests the same.
    public struct Key: Hashable, Sendable {
        private enum Content: Hashable {
            case text(String)
            case request(HTTPMethod, address: String, HTTPHeaders, [ResponseCheck?], BasicCredentials?)
        }
        private let content: Content

        /// A key of one's own; it is never the same as a ``standard(for:ignoring:)`` one.
        public init(_ text: String) {
            content = .text(text)
        }

        /// The usual key; nil for a request that is never shared, one with a body or an unsafe method.
        ///
        /// The same are two `GET` or two `HEAD` requests of the same URL, the same headers, the same
        /// ``HTTPRequest/basicCredentials`` and the same ``HTTPRequest/responseCheck``, to be decoded as the same type if at
        /// all.
        ///
        /// - Parameters:
        ///   - request: what is to be loaded.
        ///   - ignored: headers that make no difference, in whatever case.
        public static func standard(
            for request: HTTPRequest, ignoring ignored: [String] = Deduplicate.ignoredHeaders
        ) -> Key? {
            guard request.method == .get || request.method == .head, request.body.isEmpty,
                let address = request.storage.address.text(showing: .shown)
            else { return nil }
            let headers = request.headers.filter { field in !ignored.contains { field.isNamed($0) } }
            // One who demands more than another, or less, must not be answered with what the other demanded.
            let checks = [request.responseCheck, request.decodingCheck]
            // Nor one with what somebody else may see, by a loader below that turns these into a header.
            let credentials = request.basicCredentials
            return Key(content: .request(request.method, address: address, HTTPHeaders(headers), checks, credentials))
        }

        private init(content: Content) {
            self.content = content
        }
    }

    /// The headers that the usual key ignores: those that number or trace requests.
    public static let ignoredHeaders = [
        "traceparent", "tracestate", "b3", "X-Request-ID", "X-Correlation-ID", "X-Trace-ID",
    ]
}
