#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A body of a file's bytes, read piece by piece while they are sent.
///
/// Each ``encode()`` takes the file as it is then. A file that changes between that and the last byte fails the
/// request, since its length has been announced.
public struct FileBody: HTTPBody {
    /// Where the file is.
    public let url: URL

    /// What it holds, a media type.
    public let contentType: String

    /// The body of the file at `url`, which need not be there yet.
    public init(_ url: URL, contentType: String = "application/octet-stream") {
        self.url = url
        self.contentType = contentType
    }

    /// The content type.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": contentType] }

    /// The file with its length, or the reason why it cannot be read.
    public func encode() throws(HTTPBodyError) -> HTTPBodyContent { try .file(url) }
}
