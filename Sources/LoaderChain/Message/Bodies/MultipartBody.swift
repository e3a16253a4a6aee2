import LoaderChainPlatformFoundation

/// A body of named parts, as a web form with files sends them: `multipart/form-data`.
///
///     let body = MultipartBody([
///         .field("title", "Holiday"),
///         .file("photo", url, contentType: "image/jpeg"),
///     ])
///
/// Parts are separated by a line, the boundary, which is drawn when the body is made and holds for every copy of it. It has 128
/// random bits, so that no part has it by chance, and nobody can put it into one. A file is sent as it is when the body is encoded.
public struct MultipartBody: HTTPBody {
    /// The parts, in order.
    public let parts: [Part]

    private let subtype: String
    private let boundary: String

    /// The body of `parts`, of the type `multipart/` and `subtype`.
    public init(_ parts: [Part], subtype: String = "form-data") {
        var generator = SystemRandomNumberGenerator()
        self.init(parts, subtype: subtype, using: &generator)
    }

    /// The body of `parts`, with a boundary from `generator`: the same random numbers give the same bytes.
    init(_ parts: [Part], subtype: String = "form-data", using generator: inout some RandomNumberGenerator) {
        let (high, low): (UInt64, UInt64) = (generator.next(), generator.next())
        self.init(parts, subtype: subtype, boundary: Hexadecimal.text(high) + Hexadecimal.text(low))
    }

    /// The body of `parts`, with the given boundary, for a test or a server that demands one.
    ///
    /// The boundary has 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, and does not end with a space. If it is
    /// something else, ``encode()`` throws. No part may have it, which nothing checks: a part that has it ends there.
    public init(_ parts: [Part], subtype: String = "form-data", boundary: String) {
        self.parts = parts
        self.subtype = subtype
        self.boundary = boundary
    }

    /// The content type with the boundary; none if one of the two is not valid.
    public var additionalHeaders: HTTPHeaders {
        guard (try? validate()) != nil else { return HTTPHeaders() }
        let parameter = ASCII.isToken(boundary) ? boundary : "\"\(boundary)\""
        return ["Content-Type": "multipart/\(subtype); boundary=\(parameter)"]
    }

    /// The parts between their boundaries; throws if they cannot be sent.
    public func encode() throws(HTTPBodyError) -> HTTPBodyContent {
        try validate()
        var segments: [HTTPBodyContent.Segment] = []
        var separator = "--\(boundary)"
        for part in parts {
            segments.append(.data(Data("\(separator)\r\n\(try part.head())\r\n".utf8)))
            segments.append(try part.segment())
            separator = "\r\n--\(boundary)"
        }
        segments.append(.data(Data("\(separator)--\r\n".utf8)))
        return HTTPBodyContent(segments: segments)
    }

    private func validate() throws(HTTPBodyError) {
        guard ASCII.isToken(subtype) else {
            throw HTTPBodyError(
                "“\(ASCII.printable(subtype))” is not a subtype of multipart; use one word, such as “form-data”.")
        }
        guard 1...Self.longestBoundary ~= boundary.utf8.count,
            boundary.utf8.allSatisfy(Self.boundaryBytes.contains), boundary.last != " "
        else {
            throw HTTPBodyError(
                """
                “\(ASCII.printable(boundary))” cannot be a boundary; use 1 to \(Self.longestBoundary) letters, digits and \
                any of “\(Self.boundaryMarks)”, with no space at the end.
                """)
        }
    }

    private static let longestBoundary = 70
    private static let boundaryMarks = " '()+_,-./:=?"
    private static let boundaryBytes = ASCIISet(ASCIISet.alphanumerics + boundaryMarks)
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
            _ name: String, _ data: Data, filename: String? = nil, contentType: String = "application/octet-stream"
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
    fileprivate func segment() throws(HTTPBodyError) -> HTTPBodyContent.Segment {
        switch content {
        case .data(let data): .data(data)
        case .file(let url): .file(try FileSlice(url))
        }
    }

    /// The lines before the content.
    fileprivate func head() throws(HTTPBodyError) -> String {
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

    /// Works on scalars, because a carriage return with its line feed is one character in Swift.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
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
