import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPRequest {
    /// Makes a request of one that is written for a `URLSession`, such as one that other code of yours makes.
    ///
    /// ```swift
    /// var upload = URLRequest(url: url)
    /// upload.httpMethod = "PUT"
    /// upload.setValue("Compass 2.1", forHTTPHeaderField: "X-App")
    /// let response = try await chain.load(HTTPRequest(upload))
    /// ```
    ///
    /// The method, the URL, the headers, the body, the timeout, the cache policy and the networks that it may use are taken over. What the
    /// `URLRequest` leaves at its default is left to the chain. A body without a `Content-Type` is sent as
    /// `application/octet-stream`, where a `URLSession` would call that of a POST a form.
    ///
    /// - Parameter request: the request. Its body is `httpBody`: a stream can be read once, and a request may be sent several times.
    /// - Throws: `HTTPBodyError` if its body is a stream, or it has no URL.
    public init(_ request: URLRequest) throws(HTTPBodyError) {
        guard request.httpBodyStream == nil else {
            throw HTTPBodyError(
                "The URLRequest's body is a stream, which can be read only once; use httpBody, or the body of a file.")
        }
        guard let url = request.url else { throw HTTPBodyError("The URLRequest has no URL.") }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        self.init(
            method: HTTPMethod(rawValue: request.httpMethod ?? "GET"), url: url,
            headers: HTTPHeaders(fields.map { HTTPHeaders.Field($0.key, $0.value) }))
        if let body = request.httpBody, !body.isEmpty { self.body = DataBody(body) }
        let longest = 1e9
        if request.timeoutInterval != Self.usualTimeout, request.timeoutInterval > 0 {
            timeout = .seconds(min(request.timeoutInterval, longest))
        }
        if request.cachePolicy != .useProtocolCachePolicy { cachePolicy = request.cachePolicy }
        #if !canImport(FoundationNetworking)
            var access = NetworkAccess.all
            if !request.allowsCellularAccess { access.remove(.cellular) }
            if !request.allowsExpensiveNetworkAccess { access.remove(.expensive) }
            if !request.allowsConstrainedNetworkAccess { access.remove(.constrained) }
            if access != .all { networkAccess = access }
        #endif
    }

    /// The timeout of a `URLRequest` that says nothing, in seconds.
    private static let usualTimeout = 60.0
}
