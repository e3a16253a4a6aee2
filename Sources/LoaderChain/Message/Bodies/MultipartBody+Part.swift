import LoaderChainPlatformFoundation

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
