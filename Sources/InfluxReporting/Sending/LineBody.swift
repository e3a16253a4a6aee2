import LoaderChain
import LoaderChainPlatformFoundation

/// Lines as the body of a request.
struct LineBody: HTTPBody {
    let bytes: Data
    /// Whether the bytes are a gzip stream.
    let isCompressed: Bool

    var isEmpty: Bool { bytes.isEmpty }

    var additionalHeaders: HTTPHeaders {
        var headers: HTTPHeaders = ["Content-Type": "text/plain; charset=utf-8"]
        if isCompressed { headers["Content-Encoding"] = "gzip" }
        return headers
    }

    func encode() -> HTTPBodyContent { .data(bytes) }
}
