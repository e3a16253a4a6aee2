// Message/Bodies: what a request carries, from a value to the bytes that are read piece by piece. It may use Headers and Support.

import LoaderChainPlatformFoundation

/// The body of a request: a recipe for bytes, and the headers that describe them.
///
/// ## Choosing one
///
/// - ``EmptyBody``: nothing. Every request begins with it.
/// - ``JSONBody``: any `Encodable` value.
/// - ``FormBody``: names and values, as a web form without files sends them.
/// - ``MultipartBody``: names with values, data or files, as a web form with files sends them.
/// - ``DataBody``: bytes you have, of a type you name.
/// - ``FileBody``: a file, read piece by piece while it is sent.
/// - ``StreamBody``: bytes that are made while they are sent, once.
///
/// ## Using one
///
/// A body is a value. A terminal adds ``additionalHeaders`` to the request's own headers, then calls ``encode()`` and
/// reads the content. Each attempt encodes again and gets the same bytes; if ``canBeSentAgain`` is false, there is only
/// one attempt.
///
///     let content = try body.encode()
///     var reader = content.makeReader()
///     while let piece = try reader.read(upTo: 65_536) { send(piece) }
///
/// ## Writing your own
///
/// Implement ``encode()``, and the headers that follow from it. Throw ``HTTPBodyError`` to say what was wrong, with no
/// content in its text. If the body may not give the same bytes twice, return false from ``canBeSentAgain``.
///
///     struct PlainText: HTTPBody {
///         var text: String
///         var isEmpty: Bool { text.isEmpty }
///         var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain; charset=utf-8"] }
///         func encode() -> HTTPBodyContent { .data(Data(text.utf8)) }
///     }
public protocol HTTPBody: Sendable {
    /// Whether there are no bytes to send, as far as is known without encoding.
    var isEmpty: Bool { get }

    /// The headers that describe the bytes; the request's own headers take precedence.
    ///
    /// They match what ``encode()`` returns, before and after it is called.
    var additionalHeaders: HTTPHeaders { get }

    /// Whether a second ``encode()`` returns the same bytes, so that the request may be repeated.
    var canBeSentAgain: Bool { get }

    /// The bytes to send; throws if there are none to send.
    func encode() throws -> HTTPBodyContent
}

extension HTTPBody {
    /// False by default.
    public var isEmpty: Bool { false }

    /// None by default.
    public var additionalHeaders: HTTPHeaders { HTTPHeaders() }

    /// True by default.
    public var canBeSentAgain: Bool { true }
}

/// A body of no bytes, the default of a request.
public struct EmptyBody: HTTPBody {
    /// Makes an empty body.
    public init() {}

    /// True.
    public var isEmpty: Bool { true }

    /// No bytes.
    public func encode() -> HTTPBodyContent { .empty }
}

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

/// A body of names and values, as a web form sends them: `application/x-www-form-urlencoded`.
///
///     let body: FormBody = ["grant_type": "password", "username": "Zoë Q."]   // grant_type=password&username=Zo%C3%AB+Q.
///
/// The order is kept, and a name may occur twice.
public struct FormBody: HTTPBody, ExpressibleByDictionaryLiteral {
    /// The names with their values, in order.
    public private(set) var fields: [(name: String, value: String)]

    /// The body of `fields`.
    public init(_ fields: [(name: String, value: String)] = []) { self.fields = fields }

    /// The body as written, in that order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0, value: $1) }
    }

    /// Adds a value at the end.
    public mutating func append(_ value: String, for name: String) {
        fields.append((name, value))
    }

    /// Whether there are no fields.
    public var isEmpty: Bool { fields.isEmpty }

    /// The content type, `application/x-www-form-urlencoded`.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": "application/x-www-form-urlencoded"] }

    /// The names and values, escaped and joined.
    public func encode() -> HTTPBodyContent {
        let pairs = fields.map { "\(PercentEncoding.encodeForm($0.name))=\(PercentEncoding.encodeForm($0.value))" }
        return pairs.isEmpty ? .empty : .data(Data(pairs.joined(separator: "&").utf8))
    }
}

/// A body of a value as JSON.
///
/// The value is encoded at once, so that every attempt sends the same bytes even if the encoder orders keys at random,
/// and the value need not be `Sendable`. If the value cannot be encoded, ``encode()`` throws.
public struct JSONBody: HTTPBody {
    private let encoded: Result<Data, HTTPBodyError>

    /// The body of `value`.
    public init(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) {
        encoded = Result { try encoder.encode(value) }
            .mapError { HTTPBodyError(encoding: type(of: value), failedWith: $0) }
    }

    /// The content type, `application/json`.
    public var additionalHeaders: HTTPHeaders { ["Content-Type": "application/json"] }

    /// The JSON; throws if the value could not be encoded.
    public func encode() throws -> HTTPBodyContent { .data(try encoded.get()) }
}

extension HTTPBodyError {
    /// Says where encoding failed, without the value, which the text of an encoding error may quote.
    fileprivate init(encoding type: Any.Type, failedWith error: any Error) {
        var place = ""
        if case EncodingError.invalidValue(let value, let context) = error {
            if !context.codingPath.isEmpty { place = " at \(DecodingError.text(context.codingPath))" }
            place += ", in a value of type \(Swift.type(of: value))"
        }
        self.init(
            """
            A value of type \(type) cannot be encoded as JSON\(place); see the underlying error, and change the value or \
            the encoder.
            """,
            underlyingError: error)
    }
}

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
