import LoaderChainPlatformFoundation

/// Some bytes of an encoded body, which must be the same each time.
struct PartOfBody: HTTPBody {
    let content: HTTPBodyContent
    let bytes: Range<Int64>

    var isEmpty: Bool { bytes.isEmpty }

    func encode() throws -> HTTPBodyContent {
        var segments: [HTTPBodyContent.Segment] = []
        var start: Int64 = 0
        for segment in content.segments {
            let length = segment.length ?? 0
            let part = bytes.clamped(to: start..<(start + length))
            if !part.isEmpty { segments.append(try Self.part(of: segment, part.lowerBound - start, part.count)) }
            start += length
        }
        return HTTPBodyContent(segments: segments)
    }

    private static func part(
        of segment: HTTPBodyContent.Segment, _ first: Int64, _ count: Int
    ) throws(HTTPBodyError) -> HTTPBodyContent.Segment {
        switch segment {
        case .data(let data): return .data(data.dropFirst(Int(first)).prefix(count))
        case .file(let slice):
            guard try FileSlice(slice.url, bytes: slice.bytes) == slice else {
                throw HTTPBodyError("\(HTTPBodyError.name(slice.url)) has changed during its upload; begin a new one.")
            }
            let start = slice.bytes.lowerBound + first
            return .file(try FileSlice(slice.url, bytes: start..<(start + Int64(count))))
        case .stream: throw HTTPBodyError("A stream cannot be uploaded in parts; give data or a file.")
        }
    }
}
