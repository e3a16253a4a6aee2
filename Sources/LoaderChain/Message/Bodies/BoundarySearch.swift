#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A look through content for a boundary, window by window, so that no file is ever in memory whole.
struct BoundarySearch {
    private let needle: [UInt8]

    /// How far to move on when a given byte lies under the needle's end: to where the needle has that byte itself.
    private let steps: [Int]

    /// A search for the boundary as it stands in a body, behind two hyphens.
    init(_ boundary: String) {
        needle = Array("--\(boundary)".utf8)
        var steps = Array(repeating: needle.count, count: 256)
        for (index, byte) in needle.dropLast().enumerated() {
            steps[Int(byte)] = needle.count - 1 - index
        }
        self.steps = steps
    }

    /// Whether the boundary occurs in a part, or in the lines above one.
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
        case .stream: false  // No part is a stream: its bytes could not be both searched and sent.
        }
    }

    /// Carries the end of each window over into the next, since the boundary may lie across the edge.
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

    /// Horspool's search: most bytes are stepped over without a look.
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
