import LoaderChainPlatformFoundation

enum MultipartBoundary: Sendable {
    /// The first candidate from this seed that occurs nowhere.
    case drawn(seed: UInt64)

    /// This boundary, or an error.
    case given(String)

    /// A boundary that occurs in none of the sections.
    func settled(for sections: [MultipartLayout.Section]) throws(HTTPBodyError) -> String {
        switch self {
        case .drawn(let seed):
            // The loop ends, because n bytes contain fewer than n candidates.
            var candidates = Candidates(seed: seed)
            while true {
                let candidate = candidates.next()
                if try !BoundarySearch(candidate).finds(in: sections) { return candidate }
            }
        case .given(let boundary):
            try Self.validate(boundary)
            if try BoundarySearch(boundary).finds(in: sections) {
                throw HTTPBodyError(
                    "The boundary “\(boundary)” occurs in a part; give another, or none to have one drawn.")
            }
            return boundary
        }
    }

    /// The boundary as the content type's parameter, in quotes where it needs them.
    static func parameter(_ boundary: String) -> String {
        ASCII.isToken(boundary) ? boundary : "\"\(boundary)\""
    }

    private static let longest = 70
    private static let marks = " '()+_,-./:=?"
    private static let allowed = ASCIISet(ASCIISet.alphanumerics + marks)

    private static func validate(_ boundary: String) throws(HTTPBodyError) {
        let isValid =
            1...longest ~= boundary.utf8.count && boundary.utf8.allSatisfy(allowed.contains) && boundary.last != " "
        guard isValid else {
            throw HTTPBodyError(
                """
                “\(ASCII.printable(boundary))” cannot be a boundary; use 1 to \(longest) letters, digits and \
                any of “\(marks)”, with no space at the end.
                """)
        }
    }
}

extension MultipartBoundary {
    /// An endless sequence of boundaries, the same for the same seed.
    private struct Candidates {
        private var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        mutating func next() -> String {
            Hexadecimal.text(generator.next()) + Hexadecimal.text(generator.next())
        }
    }
}

/// A search for a boundary in content, window by window, so that no whole file is in memory.
private struct BoundarySearch {
    private let needle: [UInt8]

    /// How far to move on when a given byte is at the end of the window: to where the needle has that byte.
    private let steps: [Int]

    /// A search for the boundary as it is written in a body, after two hyphens.
    init(_ boundary: String) {
        needle = Array("--\(boundary)".utf8)
        var steps = Array(repeating: needle.count, count: 256)
        for (index, byte) in needle.dropLast().enumerated() {
            steps[Int(byte)] = needle.count - 1 - index
        }
        self.steps = steps
    }

    /// Whether the boundary occurs in a part or in its headers.
    func finds(in sections: [MultipartLayout.Section]) throws(HTTPBodyError) -> Bool {
        for section in sections {
            if occurs(in: Data(section.head.utf8)) { return true }
            if try finds(in: section.content) { return true }
        }
        return false
    }

    private func finds(in segment: HTTPBodyContent.Segment) throws(HTTPBodyError) -> Bool {
        switch segment {
        case .data(let data): occurs(in: data)
        case .file(let slice): try finds(in: slice)
        case .stream: false  // No part is a stream, whose bytes could not be both searched and sent.
        }
    }

    /// Carries the end of each window over to the next, because the boundary may lie across the edge.
    private func finds(in slice: FileSlice) throws(HTTPBodyError) -> Bool {
        var reader = FileSliceReader(slice)
        var window = Data()
        while let piece = try reader.read(upTo: HTTPBodyReader.largestPiece) {
            window.append(piece)
            if occurs(in: window) { return true }
            window = Data(window.suffix(needle.count - 1))
        }
        return false
    }

    /// Horspool's search, which skips most bytes.
    private func occurs(in data: Data) -> Bool {
        data.withUnsafeBytes { hay in
            var end = needle.count
            while end <= hay.count {
                if hay[(end - needle.count)..<end].elementsEqual(needle) { return true }
                end += steps[Int(hay[end - 1])]
            }
            return false
        }
    }
}

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
