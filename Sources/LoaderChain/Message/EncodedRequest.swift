import LoaderChainPlatformFoundation

/// A request that has been checked and can be sent as it is.
///
/// A terminal makes one with ``HTTPRequest/encoded(bodyIsForbiddenFor:)``.
public struct EncodedRequest: Sendable {
    /// The request it was made from.
    public let request: HTTPRequest
    /// The method, a token.
    public let method: HTTPMethod
    /// The complete address.
    public let url: URL
    /// All header fields: those of the request, then those that its body adds.
    public let headers: HTTPHeaders
    /// The body's bytes, or where they come from.
    public let content: HTTPBodyContent
}

extension EncodedRequest: CustomStringConvertible, CustomReflectable {
    /// The request it was made from, without secrets.
    public var description: String { request.description }
    /// The request it was made from, without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["request": request.description]) }
}

extension HTTPRequest {
    /// Checks the request and encodes its body.
    ///
    /// - Parameter methods: methods with which the caller cannot send a body.
    /// - Throws: an ``HTTPError/Code/invalidRequest`` whose reason says why the request cannot be sent and what to do.
    public func encoded(bodyIsForbiddenFor methods: Set<HTTPMethod> = []) throws(HTTPError) -> EncodedRequest {
        guard method.isToken else {
            throw invalid("The method \(ASCII.quoted(method.rawValue)) is not a valid method; use letters, as in GET")
        }
        if let fault = storage.address.fault { throw invalid(fault) }
        guard let url else { throw invalid("The address \(loggableURL) is not a valid URL") }
        do { try headers.validate() } catch { throw invalid("\(error)", error) }
        guard !headers.contains("Transfer-Encoding") else {
            throw invalid("Transfer-Encoding is for the terminal to set; leave it out")
        }
        if let named = headers["Host"], !ASCII.isEqualIgnoringCase(named, storage.address.authority) {
            throw invalid("The header Host says \(ASCII.quoted(named)), but the URL goes to another; leave it out")
        }
        guard body.isEmpty || !methods.contains(method) else {
            throw invalid("A \(method) request cannot have a body here; use another method, or query items")
        }
        do {
            let content = try body.encode()
            return EncodedRequest(
                request: self, method: method, url: url, headers: try allHeaders(for: content), content: content)
        } catch let error as HTTPError {
            throw error
        } catch {
            throw invalid("The body (\(type(of: body))) cannot be sent", error)
        }
    }

    private func allHeaders(for content: HTTPBodyContent) throws -> HTTPHeaders {
        var all = headers
        let added = body.additionalHeaders
        all.merge(filling: added)
        let declared = all.values(for: "Content-Length")
        if let length = content.length, length > 0 || !declared.isEmpty || method.usuallyHasBody {
            guard declared.allSatisfy({ $0 == "\(length)" }) else {
                throw invalid("Content-Length says \(ASCII.quoted(declared[0])), but the body has \(length) bytes")
            }
            all["Content-Length"] = "\(length)"
        }
        guard !added.isEmpty else { return all }
        do { try all.validate() } catch { throw invalid("The body adds a bad header. \(error)", error) }
        return all
    }

    private func invalid(_ reason: String, _ underlyingError: (any Error)? = nil) -> HTTPError {
        HTTPError(.invalidRequest, request: self, underlyingError: underlyingError, reason: reason)
    }
}

extension HTTPMethod {
    /// Whether servers expect a length even when there is no body.
    fileprivate var usuallyHasBody: Bool { self == .post || self == .put || self == .patch }
}
