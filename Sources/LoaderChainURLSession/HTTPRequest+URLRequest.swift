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

/// The cache policy of a request; nil, the default, for the one of the session's configuration.
public enum CachePolicyOption: HTTPRequestOption {
    /// The policy of the configuration.
    public static var defaultOptionValue: URLRequest.CachePolicy? { nil }
}

extension HTTPRequest {
    /// The cache policy of the request; nil for the one of the session's configuration.
    ///
    /// There is no cache on Linux, so a request that accepts nothing but cached data fails there.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { self[option: CachePolicyOption.self] }
        set { self[option: CachePolicyOption.self] = newValue }
    }
}

// MARK: - On the way out

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

// MARK: - On the way in

extension HTTPHeaders {
    /// The fields of a response, sorted by name: the session does not keep the order in which they arrived.
    ///
    /// The session joins fields of one name by commas. Those of `Set-Cookie` are taken apart again, since they have commas of their own.
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
    /// Takes the values apart.
    ///
    /// A comma separates two of them where a name and an equals sign follow it. The comma of a date is followed by a day and a month. A
    /// comma within a cookie's value is taken for a separator only if what follows looks like another cookie.
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
