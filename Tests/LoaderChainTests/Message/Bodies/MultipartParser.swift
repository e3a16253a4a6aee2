import LoaderChainPlatformFoundation

/// A strict reader of multipart/form-data: anything but what the standards have a sender write is an error.
struct MultipartParser {
    struct Part: Equatable {
        var name: String
        var filename: String?
        var contentType: String?
        var content: Data
    }

    struct Malformed: Error {
        var what: String
    }

    static func boundary(of contentType: String) throws -> String {
        guard let mark = contentType.firstRange(of: "; boundary=") else { throw Malformed(what: "no boundary") }
        let parameter = contentType[mark.upperBound...]
        guard parameter.hasPrefix("\"") else { return String(parameter) }
        guard parameter.hasSuffix("\""), parameter.count > 2 else { throw Malformed(what: "open quotes") }
        return String(parameter.dropFirst().dropLast())
    }

    static func parse(_ body: Data, contentType: String) throws -> [Part] {
        let boundary = try boundary(of: contentType)
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter lacks its line break, so that there is no preamble.
        var rest = (Array("\r\n".utf8) + body)[...]
        guard rest.starts(with: delimiter) else { throw Malformed(what: "preamble") }
        rest = rest.dropFirst(delimiter.count)
        var parts: [Part] = []
        while true {
            if rest.elementsEqual("--\r\n".utf8) { return parts }
            guard rest.starts(with: "\r\n".utf8) else { throw Malformed(what: "text after a boundary") }
            rest = rest.dropFirst(2)
            guard let end = rest.firstRange(of: delimiter) else { throw Malformed(what: "no closing boundary") }
            parts.append(try part(rest[..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
    }

    private static func part(_ bytes: ArraySlice<UInt8>) throws -> Part {
        guard let blank = bytes.firstRange(of: "\r\n\r\n".utf8) else { throw Malformed(what: "no end of the head") }
        let head = String(decoding: bytes[..<blank.lowerBound], as: UTF8.self)
        var part = Part(name: "", content: Data(bytes[blank.upperBound...]))
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard !lines.contains(where: { $0.utf8.contains(10) || $0.utf8.contains(13) }) else {
            throw Malformed(what: "a line break that is none")
        }
        guard lines.count <= 2, let first = lines.first else { throw Malformed(what: "\(lines.count) lines") }

        let prefix = "Content-Disposition: form-data; name=\""
        guard first.hasPrefix(prefix), first.hasSuffix("\"") else { throw Malformed(what: String(first)) }
        let names = first.dropFirst(prefix.count).dropLast().split(
            separator: "\"; filename=\"", omittingEmptySubsequences: false)
        guard names.count <= 2, !names.contains(where: { $0.contains("\"") }) else {
            throw Malformed(what: String(first))
        }
        part.name = unescaped(names[0])
        part.filename = names.count == 2 ? unescaped(names[1]) : nil
        if lines.count == 2 {
            guard lines[1].hasPrefix("Content-Type: ") else { throw Malformed(what: String(lines[1])) }
            part.contentType = String(lines[1].dropFirst("Content-Type: ".count))
        }
        return part
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n"))
    }
}
