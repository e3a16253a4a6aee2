import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPRequest {
    /// Converts a `URLRequest`, such as one from existing code.
    ///
    /// ```swift
    /// var upload = URLRequest(url: url)
    /// upload.httpMethod = "PUT"
    /// upload.setValue("Compass 2.1", forHTTPHeaderField: "X-App")
    /// let response = try await chain.load(HTTPRequest(upload))
    /// ```
    ///
    /// The method, the URL, the headers, the body, the timeout, the cache policy and the allowed networks are converted. Values
    /// that the `URLRequest` leaves at their defaults are left to the chain. A body without a `Content-Type` is sent as
    /// `application/octet-stream`, whereas a `URLSession` would send the body of a POST as a form.
    ///
    /// - Parameter request: the request, whose body is `httpBody`; a stream is an error, because a request may be sent several
    ///   times.
    /// - Throws: `HTTPBodyError` if the body is a stream, or the request has no URL.
    public init(_ request: URLRequest) throws(HTTPBodyError) {
        guard request.httpBodyStream == nil else {
            throw HTTPBodyError(
                "The URLRequest's body is a stream, which can be read only once; use httpBody, or a FileBody.")
        }
        guard let url = request.url else { throw HTTPBodyError("The URLRequest has no URL.") }
        self.init(
            method: HTTPMethod(rawValue: request.httpMethod ?? "GET"), url: url,
            headers: HTTPHeaders(request.allHTTPHeaderFields ?? [:]))
        if let body = request.httpBody, !body.isEmpty { self.body = DataBody(body) }
        let longest = 1e9
        if request.timeoutInterval != Self.defaultTimeout, request.timeoutInterval > 0 {
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

    /// The default timeout of a `URLRequest`, in seconds.
    private static let defaultTimeout = 60.0
}

private enum CachePolicyOption: HTTPRequestOption {
    static var defaultOptionValue: URLRequest.CachePolicy? { nil }
}

extension HTTPRequest {
    /// The cache policy of the request; nil for that of the session's configuration.
    ///
    /// Linux has no cache, so a request that accepts only cached data fails there.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { self[option: CachePolicyOption.self] }
        set { self[option: CachePolicyOption.self] = newValue }
    }
}

// MARK: - On the way out

extension URLRequest {
    /// A timeout of the session that never expires first, because the loader measures time itself.
    private static let endless: Double = 365 * 86_400

    init(_ encoded: EncodedRequest) {
        self.init(url: encoded.url)
        // On Linux, a session takes a timeout of the initializer for none, and applies that of its configuration.
        timeoutInterval = Self.endless
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
            // Otherwise the session would declare the body of a POST to be a form. A blank value omits the field.
            if encoded.method == .post, encoded.headers["Content-Type"] == nil {
                setValue(Self.omitted, forHTTPHeaderField: "Content-Type")
            }
        #else
            let access = encoded.request.networkAccess
            if !access.contains(.cellular) { allowsCellularAccess = false }
            if !access.contains(.expensive) { allowsExpensiveNetworkAccess = false }
            if !access.contains(.constrained) { allowsConstrainedNetworkAccess = false }
        #endif
    }

    /// Whether the system changes a method, which it does to upper case for those that it knows.
    static func changesMethod(_ method: HTTPMethod) -> Bool {
        guard method.rawValue.utf8.contains(where: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains) else {
            return false
        }
        var request = URLRequest(url: URL(filePath: "/"))
        request.httpMethod = method.rawValue
        return request.httpMethod != method.rawValue
    }

    /// The request with a body that is read while it is sent.
    func streaming(_ content: HTTPBodyContent, length: Int64) -> URLRequest {
        var request = self
        #if canImport(FoundationNetworking)
            request.httpBodyStream = BodyInputStream(content)
            // The session would send a stream chunked, which not every server accepts. A blank value prevents that and
            // omits the field; the length is known.
            request.setValue(Self.omitted, forHTTPHeaderField: "Transfer-Encoding")
            request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        #endif
        return request
    }

    private static let omitted = " "
}

// MARK: - On the way in

extension HTTPHeaders {
    /// The fields of a response, sorted by name: the session does not keep the order in which they arrived.
    ///
    /// The session joins fields with the same name by commas. `Set-Cookie` fields are separated again, since their values contain
    /// commas.
    init(_ response: HTTPURLResponse) {
        var fields: [Field] = []
        fields.reserveCapacity(response.allHeaderFields.count)
        for (name, value) in response.allHeaderFields {
            guard let name = name.base as? String else { continue }
            let text = value as? String ?? "\(value)"
            if name.lowercased() == "set-cookie" {
                fields += JoinedCookies.separate(text).map { Field(name, $0) }
            } else {
                fields.append(Field(name, text))
            }
        }
        self.init(fields.sorted { $0.name < $1.name })
    }
}

/// The values of several `Set-Cookie` fields that a session has joined by commas.
enum JoinedCookies {
    /// Separates the values.
    ///
    /// A comma is a separator if a name and an equals sign follow it. The comma of a date is followed by a day and a month. A comma
    /// within a cookie's value is mistaken for a separator only if what follows looks like another cookie.
    static func separate(_ joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        var values: [String] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ",") {
            let rest = bytes[(index + 1)...].drop { $0 == ASCII.space || $0 == ASCII.tab }
            let name = rest.prefix(while: ASCIISet.token.contains)
            guard !name.isEmpty, rest.dropFirst(name.count).first == UInt8(ascii: "=") else { continue }
            values.append(String(decoding: bytes[start..<index], as: UTF8.self))
            start = rest.startIndex
        }
        values.append(String(decoding: bytes[start...], as: UTF8.self))
        return values
    }
}
