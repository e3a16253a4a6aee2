/// What a request carries: a recipe for bytes, and the headers that describe them.
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
/// A body is a value. Whoever sends it merges ``additionalHeaders`` under the request's own headers, then asks
/// ``encode()`` and reads the content. Each attempt at sending encodes anew and gets the same bytes; where
/// ``canBeSentAgain`` is false there is one attempt.
///
///     let content = try body.encode()
///     var reader = content.makeReader()
///     while let piece = try reader.read(upTo: 65_536) { send(piece) }
///
/// ## Writing your own
///
/// Answer ``encode()``, and the headers that follow from it. Throw ``HTTPBodyError`` to say what was wrong, with no
/// content in its text. A body that cannot promise the same bytes twice says so in ``canBeSentAgain``.
///
///     struct PlainText: HTTPBody {
///         var text: String
///         var isEmpty: Bool { text.isEmpty }
///         var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain; charset=utf-8"] }
///         func encode() -> HTTPBodyContent { .data(Data(text.utf8)) }
///     }
public protocol HTTPBody: Sendable {
    /// Whether there are no bytes to send, as far as can be told without encoding.
    var isEmpty: Bool { get }

    /// The headers that describe the bytes; those of the request itself come before them.
    ///
    /// They agree with what ``encode()`` answers, before and after it is asked.
    var additionalHeaders: HTTPHeaders { get }

    /// Whether a second ``encode()`` answers the same bytes, so that the request may be repeated.
    var canBeSentAgain: Bool { get }

    /// The bytes to send, or the reason why there are none.
    func encode() throws -> HTTPBodyContent
}

extension HTTPBody {
    /// False, unless a body knows better.
    public var isEmpty: Bool { false }

    /// None, unless a body knows better.
    public var additionalHeaders: HTTPHeaders { HTTPHeaders() }

    /// True, unless a body knows better.
    public var canBeSentAgain: Bool { true }
}
