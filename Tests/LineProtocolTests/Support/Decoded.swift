import LineProtocol
import LoaderChainPlatformFoundation

/// The points of a text, or the first error in it.
func decoded(_ text: some Sequence<UInt8>, _ precision: Precision = .nanoseconds) throws -> [Point] {
    try results(text, precision).map { try $0.get() }
}

func results(
    _ text: some Sequence<UInt8>, _ precision: Precision = .nanoseconds, limit: Int = 1 << 24
) -> [Result<Point, LineDecodingError>] {
    var decoder = LineDecoder(precision: precision, maximumLineLength: limit)
    var results: [Result<Point, LineDecodingError>] = []
    decoder.decode(text) { results.append($0) }
    decoder.finish { results.append($0) }
    return results
}

/// The reason why a line is rejected, or nil if it is valid.
func refusal(_ line: String) -> LineDecodingError.Code? {
    for case .failure(let error) in results(line.utf8) { return error.code }
    return nil
}

extension Point {
    /// Whether two points have the same bytes and bits; `==` ignores canonical equivalence and the sign of zero.
    func isIdentical(to other: Point) -> Bool {
        guard measurement.utf8.elementsEqual(other.measurement.utf8), timestamp == other.timestamp else { return false }
        let sameTags = tags.elementsEqual(other.tags) {
            $0.key.utf8.elementsEqual($1.key.utf8) && $0.value.utf8.elementsEqual($1.value.utf8)
        }
        let sameFields = fields.elementsEqual(other.fields) {
            $0.key.utf8.elementsEqual($1.key.utf8) && $0.value.isIdentical(to: $1.value)
        }
        return sameTags && sameFields
    }
}

extension FieldValue {
    func isIdentical(to other: FieldValue) -> Bool {
        switch (self, other) {
        case (.double(let one), .double(let two)): one.bitPattern == two.bitPattern
        case (.string(let one), .string(let two)): one.utf8.elementsEqual(two.utf8)
        default: self == other
        }
    }
}
