// Message/Bodies: what a request carries, from a value to the bytes that are read piece by piece. It may use Headers
// and Support.

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
