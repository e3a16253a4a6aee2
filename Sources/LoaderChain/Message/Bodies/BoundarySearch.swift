import LoaderChainPlatformFoundation

/// A search for a boundary in content, window by window, so that no whole file is in memory.
struct BoundarySearch {
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
