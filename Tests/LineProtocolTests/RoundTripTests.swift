import LineProtocol
import TestSizes
import Testing

/// Encodes and decodes points of every kind.
///
/// `LINE_POINTS` sets their number.
@Suite(.timeLimit(.minutes(10))) struct RoundTripTests {
    static let count = testSize("LINE_POINTS", usually: 20_000)

    @Test(arguments: [
        (1, LineDialect.portable, Precision.nanoseconds, false), (2, .influxDB1, .microseconds, true),
        (3, .influxDB2, .milliseconds, false), (4, .portable, .seconds, true),
    ])
    func pointsRoundTripWithTheirRepairs(
        _ seed: UInt64, _ dialect: LineDialect, _ precision: Precision, _ hasDefaults: Bool
    ) throws {
        let defaults: Tags = hasDefaults ? ["host": "h 1", "a": "x", "é=": "1", "zone": "z", "_": "u"] : [:]
        var maker = PointMaker(seed: seed)
        var encoder = LineEncoder(precision: precision, defaults: defaults, dialect: dialect)
        var decoder = LineDecoder(precision: precision)
        var naive = NaiveRepair(dialect, precision)
        var lines = 0
        for number in 0..<Self.count / 4 {
            let point = maker.point()
            let expected = naive.repaired(point, defaults: defaults)
            encoder.removeAll()
            let isWritten = encoder.append(point)
            var results: [Result<Point, LineDecodingError>] = []
            encoder.withUnsafeBytes { bytes in decoder.decode(bytes) { results.append($0) } }
            let note: Comment = "seed \(seed), point \(number): \(point.measurement.debugDescription) \(encoder.text)"
            guard let expected else {
                guard !isWritten, encoder.isEmpty, results.isEmpty else {
                    Issue.record(note)
                    return
                }
                continue
            }
            lines += 1
            guard isWritten, results.count == 1, case .success(let found) = results[0], found.isIdentical(to: expected)
            else {
                Issue.record("\(note.rawValue) became \(results), not \(expected)")
                return
            }
        }
        #expect(lines > Self.count / 16)
    }

    @Test func repairsAreCountedAndEarlierLinesAreKept() {
        var maker = PointMaker(seed: 5)
        var naive = NaiveRepair()
        for number in 0..<Self.count / 10 {
            let point = maker.point()
            let expected = naive.repaired(point)
            var encoder = LineEncoder(capacity: 64)
            encoder.append("before", timestamp: nil, tags: { _ in }, fields: { $0.set("x", 1) })
            let before = encoder.bytes
            encoder.append(point)
            let bytes = encoder.bytes
            #expect(bytes.starts(with: before) && (bytes == before) == (expected == nil), "point \(number): \(point)")
            let repairs = encoder.repairs
            #expect(repairs.isEmpty == naive.problems.isEmpty, "point \(number): \(repairs), not \(naive.problems)")
            #expect(
                LineProblem.allCases.allSatisfy { kind in repairs[kind] == naive.problems.count { $0 == kind } },
                "point \(number): \(repairs), not \(naive.problems)")
            #expect(repairs.droppedPoints == (expected == nil ? 1 : 0))
        }
    }

    /// All three forms write the same bytes, and count the same repairs.
    @Test func everyAppendFormWritesSameBytes() {
        var maker = PointMaker(seed: 6)
        let defaults: Tags = ["b": "default", "m": "default", "time": "default"]
        var whole = LineEncoder(defaults: defaults)
        var parts = LineEncoder(defaults: defaults)
        var prepared = LineEncoder(defaults: defaults)
        for number in 0..<Self.count / 10 {
            let point = maker.point()
            let shuffled = point.tags.shuffled(using: &maker.generator)
            let series = PreparedSeries(point.measurement, tags: point.tags, defaults: defaults)
            for _ in 0..<2 {
                whole.append(point)
                parts.append(point.measurement, timestamp: point.timestamp) { tags in
                    for tag in shuffled { tags.set(tag.key, tag.value) }
                } fields: { fields in
                    for field in point.fields { fields.set(field.key, field.value) }
                }
                prepared.append(series, timestamp: point.timestamp) { $0.set(point.fields) }
            }
            // If repairs make two tags equal, the last is kept, so their order matters.
            if whole.repairs[.duplicateTag] == 0, whole.bytes != parts.bytes {
                Issue.record("parts of point \(number): \(point)")
            }
            if whole.bytes != prepared.bytes { Issue.record("series of point \(number): \(point)") }
            if whole.repairs != parts.repairs || whole.repairs != prepared.repairs {
                Issue.record("repairs of point \(number): \(whole.repairs) / \(parts.repairs) / \(prepared.repairs)")
            }
            whole = LineEncoder(defaults: defaults, capacity: 1_024)
            parts = whole
            prepared = whole
        }
    }
}
