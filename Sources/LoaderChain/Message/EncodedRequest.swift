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

extension HTTPRequest {
    /// Checks the request and encodes its body.
    ///
    /// - Parameter methods: methods with which the caller cannot send a body.
    /// - Throws: an ``HTTPError/Code/invalidRequest`` whose reason says why the request cannot be sent and what to do.
    public func encoded(bodyIsForbiddenFor methods: Set<HTTPMethod> = []) throws(HTTPError) -> EncodedRequest {
        guard method.isToken else {
            throw invalid("The method \(Self.printable(method.rawValue)) is no token; use letters, as in GET")
        }
        if let fault = storage.address.fault { throw invalid(fault) }
        guard let url else { throw invalid("The address \(loggableURL) is no valid URL") }
        do { try headers.validate() } catch { throw invalid("\(error)", error) }
        guard !headers.contains("Transfer-Encoding") else {
            throw invalid("Transfer-Encoding is for the terminal to set; leave it out")
        }
        if let named = headers["Host"], !ASCII.isEqualIgnoringCase(named, storage.address.authority) {
            throw invalid("The header Host says \(Self.printable(named)), but the URL goes to another; leave it out")
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
            throw invalid("The body (\(type(of: body))) failed to encode", error)
        }
    }

    private func allHeaders(for content: HTTPBodyContent) throws -> HTTPHeaders {
        var all = headers
        all.merge(filling: body.additionalHeaders)
        let declared = all.values(for: "Content-Length")
        if let length = content.length, length > 0 || !declared.isEmpty || method.usuallyHasBody {
            guard declared.allSatisfy({ $0 == "\(length)" }) else {
                throw invalid("Content-Length says \(Self.printable(declared[0])), but the body has \(length) bytes")
            }
            all["Content-Length"] = "\(length)"
        }
        do { try all.validate() } catch { throw invalid("The body adds a bad header. \(error)", error) }
        return all
    }

    private func invalid(_ reason: String, _ underlyingError: (any Error)? = nil) -> HTTPError {
        HTTPError(.invalidRequest, request: self, underlyingError: underlyingError, reason: reason)
    }

    /// The text in quotes, with everything outside printable ASCII escaped.
    private static func printable(_ text: String) -> String {
        "\"" + text.unicodeScalars.prefix(100).map { $0.escaped(asASCII: true) }.joined() + "\""
    }
}

extension HTTPMethod {
    /// Whether servers expect a length even when there is no body.
    fileprivate var usuallyHasBody: Bool { [.post, .put, .patch].contains(self) }
}
