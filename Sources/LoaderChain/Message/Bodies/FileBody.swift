import LoaderChainPlatformFoundation

/// A body of a file's bytes, read piece by piece while they are sent.
///
/// Each ``encode()`` uses the file as it is at that time. If the file changes before its last byte is sent, the request
/// fails, because its length has been announced.
public struct FileBody: HTTPBody {
    /// The file's URL.
    public let url: URL

    /// The media type.
    public let contentType: String

    /// Makes a body of the file at `url`, which need not exist yet.
    public init(_ url: URL, contentType: String = "application/octet-stream") {
        self.url = url
        self.contentType = contentType
    }

    /// The content type.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": contentType] }

    /// The file with its length; throws if it cannot be read.
    public func encode() throws(HTTPBodyError) -> HTTPBodyContent { try .file(url) }
}
