import LoaderChainPlatformFoundation

/// A body of bytes that are made piece by piece, when a terminal asks for them.
///
/// It can be sent once, because its maker stores no bytes. A request with such a body is not repeated.
///
/// A terminal may read the body to its end before it sends anything. `URLSessionLoader` does, into a temporary file, as a session may
/// need the bytes again. So make none of them depend on the response: such a request would not begin before its deadline.
public struct StreamBody: HTTPBody {
    /// The media type.
    public let contentType: String

    private let stream: HTTPBodyStream
    private let sending = OneShot()

    /// Makes a body that calls `next` for each piece, until it returns nil.
    ///
    /// If you give a `length`, the pieces must add up to it. An error that `next` throws ends the request.
    public init(
        contentType: String = "application/octet-stream", length: Int64? = nil,
        next: @escaping @Sendable () throws -> Data?
    ) {
        self.contentType = contentType
        stream = HTTPBodyStream(length: length, next: next)
    }

    /// Whether the length was announced as zero.
    public var isEmpty: Bool { stream.length == 0 }

    /// The content type.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": contentType] }

    /// False.
    public var canBeSentAgain: Bool { false }

    /// The stream at the first call; a second call throws.
    public func encode() throws(HTTPBodyError) -> HTTPBodyContent {
        if let length = stream.length, length < 0 {
            throw HTTPBodyError(
                "The stream of this body announces \(length) bytes; announce zero or more, or no length.")
        }
        guard sending.take() else {
            throw HTTPBodyError(
                "The stream of this body has been sent already and cannot be sent again; make a new body.",
                code: .alreadyRead)
        }
        return HTTPBodyContent(segments: [.stream(stream)])
    }
}
