import LoaderChain
import LoaderChainPlatformFoundation

/// A request as a ``LoopbackServer`` received it, parsed and byte for byte.
public struct LoopbackRequest: Sendable, Hashable {
    /// The method as sent, such as `GET`.
    public let method: HTTPMethod
    /// The target of the request line as sent, such as `/search?q=a`.
    public let target: String
    /// The minor version of HTTP/1: `1` for HTTP/1.1, `0` for HTTP/1.0.
    public let minorVersion: Int
    /// The header fields, in order.
    public let headers: HTTPHeaders
    /// The fields that followed a chunked body.
    public let trailers: HTTPHeaders
    /// The bytes of the body, without the framing of chunks.
    public let body: Data
    /// Every byte of the request in the order of arrival: head, body, and the framing of chunks.
    public let raw: Data
    /// The number of the connection that carried the request, counted from one.
    public let connection: Int

    /// The path of the target, still percent-encoded and without the query.
    public var path: String { String(originForm.prefix { $0 != "?" }) }

    /// The part of the target after the first `?`; nil if there is none.
    public var query: String? {
        guard let mark = originForm.firstIndex(of: "?") else { return nil }
        return String(originForm[originForm.index(after: mark)...])
    }

    /// The body decoded as UTF-8, with invalid bytes replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Whether the client wants to keep the connection alive after the reply.
    ///
    /// For HTTP/1.0 this is always false; its way of asking is no longer used.
    var keepsAlive: Bool {
        minorVersion >= 1 && !headers.list(for: "Connection", contains: "close")
    }

    /// The target without the scheme and the host that a request to a proxy carries.
    private var originForm: Substring {
        let scheme = ["http://", "https://"].first {
            ASCII.isEqualIgnoringCase(String(target.prefix($0.count)), $0)
        }
        guard let scheme else { return target[...] }
        let rest = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
        return rest.first == "/" ? rest : "/" + rest
    }
}
