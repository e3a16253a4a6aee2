import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// A timeout of the session that never comes first, because the loader measures time itself.
    private static let endless: Double = 7 * 86_400

    init(_ encoded: EncodedRequest) {
        self.init(url: encoded.url, timeoutInterval: Self.endless)
        httpMethod = encoded.method.rawValue
        var isFirst = Set<String>()
        for field in encoded.headers {
            // The session sets Content-Length itself.
            let name = field.name.lowercased()
            guard name != "content-length", isFirst.insert(name).inserted else { continue }
            setValue(encoded.headers[field.name], forHTTPHeaderField: field.name)
        }
        // For a user's own session, whose configuration the loader cannot change.
        httpShouldHandleCookies = false
        if let policy = encoded.request.cachePolicy { cachePolicy = policy }
        #if canImport(FoundationNetworking)
            // Otherwise the session would declare the body of a POST to be a form. A blank value leaves the field out.
            if encoded.method == .post, encoded.content.length != 0, encoded.headers["Content-Type"] == nil {
                setValue(Self.leftOut, forHTTPHeaderField: "Content-Type")
            }
        #else
            let access = encoded.request.networkAccess
            if !access.contains(.cellular) { allowsCellularAccess = false }
            if !access.contains(.expensive) { allowsExpensiveNetworkAccess = false }
            if !access.contains(.constrained) { allowsConstrainedNetworkAccess = false }
        #endif
    }

    /// The request with a body that is read while it is sent.
    func streaming(_ content: HTTPBodyContent, length: Int64) -> URLRequest {
        var request = self
        #if canImport(FoundationNetworking)
            request.httpBodyStream = BodyInputStream(content)
            // The session would send a stream chunked, which not every server accepts. A blank value prevents that and
            // leaves the field out; the length is known.
            request.setValue(Self.leftOut, forHTTPHeaderField: "Transfer-Encoding")
            request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        #endif
        return request
    }

    private static let leftOut = " "
}
