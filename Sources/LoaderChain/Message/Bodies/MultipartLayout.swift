#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A multipart body that is settled: its sections, and a boundary that occurs in none of them.
struct MultipartLayout: Sendable {
    /// What stands between two boundaries: the part's header lines, and its content.
    struct Section: Sendable {
        let head: String
        let content: HTTPBodyContent.Segment
    }

    let boundary: String
    let sections: [Section]

    /// The bytes of the body, provided its files are still what they were.
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
