import LoaderChainPlatformFoundation

/// A body of bytes that are in memory.
public struct DataBody: HTTPBody {
    /// The bytes.
    public let data: Data

    /// The media type.
    public let contentType: String

    /// The body of `data`.
    public init(_ data: Data, contentType: String = "application/octet-stream") {
        self.data = data
        self.contentType = contentType
    }

    /// Whether there are no bytes.
    public var isEmpty: Bool { data.isEmpty }

    /// The content type.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": contentType] }

    /// The bytes.
    public func encode() -> HTTPBodyContent { .data(data) }
}
