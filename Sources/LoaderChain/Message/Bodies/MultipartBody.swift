import LoaderChainPlatformFoundation

/// A body of named parts, as a web form with files sends them: `multipart/form-data`.
///
///     let body = MultipartBody([
///         .field("title", "Holiday"),
///         .file("photo", url, contentType: "image/jpeg"),
///     ])
///
/// Parts are separated by a line, the boundary, which occurs in none of them. Candidates are made from a seed that is
/// fixed when the body is made, until one occurs nowhere. The boundary is chosen at the first use of the headers or the
/// content, and then holds for every copy of the body. Choosing it reads all files, which must not change until the
/// request is done. If it fails, because a file is missing, make a new body.
public struct MultipartBody: HTTPBody {
    /// The parts, in order.
    public let parts: [Part]

    private let subtype: String
    private let boundary: MultipartBoundary
    private let settlement = Locked<Settlement?>(nil)

    private typealias Settlement = Result<MultipartLayout, HTTPBodyError>

    /// The body of `parts`, of the type `multipart/` and `subtype`.
    public init(_ parts: [Part], subtype: String = "form-data") {
        var generator = SystemRandomNumberGenerator()
        self.init(parts, subtype: subtype, using: &generator)
    }

    /// The body of `parts`, with a boundary from `generator`: the same random numbers give the same bytes.
    public init(_ parts: [Part], subtype: String = "form-data", using generator: inout some RandomNumberGenerator) {
        self.init(parts, subtype: subtype, boundary: .drawn(seed: generator.next()))
    }

    /// The body of `parts`, with the given boundary.
    ///
    /// The boundary has 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, and does not end with a space. If it is
    /// something else, or occurs in a part, ``encode()`` throws.
    public init(_ parts: [Part], subtype: String = "form-data", boundary: String) {
        self.init(parts, subtype: subtype, boundary: .given(boundary))
    }

    private init(_ parts: [Part], subtype: String, boundary: MultipartBoundary) {
        self.parts = parts
        self.subtype = subtype
        self.boundary = boundary
    }

    /// The content type with the boundary, or none for a body that ``encode()`` would refuse.
    public var additionalHeaders: HTTPHeaders {
        guard let layout = try? settled().get() else { return HTTPHeaders() }
        return ["Content-Type": "multipart/\(subtype); boundary=\(MultipartBoundary.parameter(layout.boundary))"]
    }

    /// The parts between their boundaries; throws if they cannot be sent.
    public func encode() throws(HTTPBodyError) -> HTTPBodyContent {
        try settled().get().content()
    }

    private func settled() -> Settlement {
        if let known = settlement.withLock({ $0 }) { return known }
        // Reading files takes long, so it happens outside the lock. Of several threads that do it at once, the first to
        // finish decides, and the others use its boundary.
        let found = settle()
        return settlement.withLock { known in
            if let known { return known }
            known = found
            return found
        }
    }

    private func settle() -> Settlement {
        do throws(HTTPBodyError) {
            guard ASCII.isToken(subtype) else {
                throw HTTPBodyError(
                    "“\(ASCII.printable(subtype))” is not a subtype of multipart; use one word, such as “form-data”.")
            }
            var sections: [MultipartLayout.Section] = []
            for part in parts { sections.append(try part.section()) }
            return .success(MultipartLayout(boundary: try boundary.settled(for: sections), sections: sections))
        } catch {
            return .failure(error)
        }
    }
}

extension MultipartBody {
    /// One part of the body: a name, and a text, bytes or a file under it.
    ///
    /// Quotes and line breaks in names are escaped as the HTML standard says, so that a name cannot end its line.
    public struct Part: Sendable {
        private enum Content {
            case data(Data)
            case file(URL)
        }

        private let name: String
        private let filename: String?
        private let contentType: String?
        private let content: Content

        /// A named text, as a text field of a form sends it.
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name: name, filename: nil, contentType: nil, content: .data(Data(value.utf8)))
        }

        /// Named bytes, which the server treats as a file if there is a `filename`.
        public static func data(
            _ name: String, filename: String? = nil, contentType: String = "application/octet-stream", _ data: Data
        ) -> Part {
            Part(name: name, filename: filename, contentType: contentType, content: .data(data))
        }

        /// A named file; without a `filename`, it has its name on the disk.
        ///
        /// It is read piece by piece while it is sent, and must exist by then.
        public static func file(
            _ name: String, _ url: URL, filename: String? = nil, contentType: String = "application/octet-stream"
        ) -> Part {
            Part(name: name, filename: filename ?? url.lastPathComponent, contentType: contentType, content: .file(url))
        }
    }
}

extension MultipartBody.Part {
    /// The part as it goes between two boundaries.
    func section() throws(HTTPBodyError) -> MultipartLayout.Section {
        let head = try head()
        switch content {
        case .data(let data): return .init(head: head, content: .data(data))
        case .file(let url): return .init(head: head, content: .file(try FileSlice(url)))
        }
    }

    private func head() throws(HTTPBodyError) -> String {
        var head = "Content-Disposition: form-data; name=\"\(Self.escaped(name))\""
        if let filename { head += "; filename=\"\(Self.escaped(filename))\"" }
        head += "\r\n"
        if let contentType {
            guard Self.isMediaType(contentType) else {
                throw HTTPBodyError(
                    """
                    The part “\(ASCII.printable(name))” has the content type “\(ASCII.printable(contentType))”, which is \
                    none; give a media type such as “image/png”.
                    """)
            }
            head += "Content-Type: \(contentType)\r\n"
        }
        return head
    }

    /// Works on bytes, because a carriage return with its line feed is one character in Swift.
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), ASCII.carriageReturn, ASCII.lineFeed:
                bytes += "%\(ASCII.hexadecimal(byte))".utf8
            default:
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the text begins with two tokens and a slash between them, and contains nothing that would end its line.
    private static func isMediaType(_ text: String) -> Bool {
        guard !text.utf8.contains(where: ASCII.isForbiddenInValue) else { return false }
        let essence = text.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
        let parameters = text[essence.endIndex...].drop { $0 == " " || $0 == "\t" }
        return halves.count == 2 && halves.allSatisfy(ASCII.isToken) && (parameters.isEmpty || parameters.first == ";")
    }
}
