import LoaderChainPlatformFoundation

/// A multipart body whose boundary is known to occur in none of its sections.
struct MultipartLayout: Sendable {
    /// The header lines and the content of one part.
    struct Section: Sendable {
        let head: String
        let content: HTTPBodyContent.Segment
    }

    let boundary: String
    let sections: [Section]

    /// The bytes of the body; throws if a file has changed.
    func content() throws(HTTPBodyError) -> HTTPBodyContent {
        var segments: [HTTPBodyContent.Segment] = []
        var opening = "--\(boundary)\r\n"
        for section in sections {
            if case .file(let slice) = section.content { _ = try slice.open() }
            segments.append(.data(Data("\(opening)\(section.head)\r\n".utf8)))
            segments.append(section.content)
            opening = "\r\n--\(boundary)\r\n"
        }
        let closing = sections.isEmpty ? "--\(boundary)--\r\n" : "\r\n--\(boundary)--\r\n"
        segments.append(.data(Data(closing.utf8)))
        return HTTPBodyContent(segments: segments)
    }
}
