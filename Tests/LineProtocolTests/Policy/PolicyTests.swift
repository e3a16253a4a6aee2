import LineProtocol
import Testing

/// One row of the policy: a point, the line it becomes or nothing, and the problem that is counted.
struct PolicyRow: Sendable, CustomTestStringConvertible {
    let name: String
    let point: Point
    let line: String?
    let problem: LineProblem
    var dialect = LineDialect.portable

    var testDescription: String { name }

    init(
        _ name: String, _ point: Point, _ line: String?, _ problem: LineProblem, dialect: LineDialect = .portable
    ) {
        self.name = name
        self.point = point
        self.line = line
        self.problem = problem
        self.dialect = dialect
    }

    static let time = Timestamp.seconds(1_700_000_000)

    static func tagged(_ key: String, _ value: String) -> Point {
        Point("m", tags: [key: value], fields: ["f": 1], timestamp: time)
    }

    static let long = String(repeating: "k", count: 65_536)

    static let all: [PolicyRow] = [
        PolicyRow(
            "a newline in a measurement", Point("a\nb f=1", fields: ["f": 1], timestamp: time),
            "a-b\\ f=1 f=1i 1700000000000000000", .controlCharacter),
        PolicyRow(
            "a newline in a tag's key", tagged("a\nb", "v"), "m,a-b=v f=1i 1700000000000000000", .controlCharacter),
        PolicyRow(
            "line ends in a tag's value", tagged("k", "a\r\nb\tc\0"), "m,k=a--b-c- f=1i 1700000000000000000",
            .controlCharacter),
        PolicyRow(
            "a newline in a field's key", Point("m", fields: ["a\nb": 1], timestamp: time),
            "m a-b=1i 1700000000000000000", .controlCharacter),
        PolicyRow(
            "a trailing backslash", tagged("k", "C:\\dir\\"), "m,k=C:\\dir- f=1i 1700000000000000000",
            .ambiguousBackslash),
        PolicyRow(
            "a doubled backslash", tagged("k", "\\\\server\\share"), "m,k=--server\\share f=1i 1700000000000000000",
            .ambiguousBackslash),
        PolicyRow(
            "a backslash before a space", tagged("a\\ b", "v"), "m,a-\\ b=v f=1i 1700000000000000000",
            .ambiguousBackslash),
        PolicyRow(
            "a backslash before a quote", Point("m", fields: ["a\\\"b": 1], timestamp: time),
            "m a-\"b=1i 1700000000000000000", .ambiguousBackslash),
        PolicyRow(
            "a measurement that begins with #", Point("#m", fields: ["f": 1], timestamp: time),
            "-m f=1i 1700000000000000000", .leadingHash),
        PolicyRow(
            "a reserved measurement", Point("_m x", fields: ["f": 1], timestamp: time),
            "-m\\ x f=1i 1700000000000000000", .reservedName),
        PolicyRow(
            "a tag called time", tagged("time", "v"), "m,time_=v f=1i 1700000000000000000", .reservedName),
        PolicyRow(
            "a field called time", Point("m", fields: ["time": 1], timestamp: time), "m time_=1i 1700000000000000000",
            .reservedName),
        PolicyRow(
            "a reserved tag", tagged("_k,", "v"), "m,-k\\,=v f=1i 1700000000000000000", .reservedName),
        PolicyRow(
            "an empty measurement", Point("", tags: ["k": "v"], fields: ["f": 1], timestamp: time), nil,
            .emptyMeasurement),
        PolicyRow("an empty tag's key", tagged("", "v"), "m f=1i 1700000000000000000", .emptyTagKey),
        PolicyRow("an empty tag's value", tagged("k", ""), "m f=1i 1700000000000000000", .emptyTagValue),
        PolicyRow(
            "an empty field's key", Point("m", fields: ["": 1, "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .emptyFieldKey),
        PolicyRow(
            "a duplicate tag", Point("m", tags: ["a\n": "1", "a\t": "2"], fields: ["f": 1], timestamp: time),
            "m,a-=1 f=1i 1700000000000000000", .duplicateTag),
        PolicyRow(
            "a field's key too long", Point("m", fields: [long: 1, "f": 1], timestamp: time),
            "m f=1i 1700000000000000000", .overlongKey),
        PolicyRow("a series too long", tagged("k", long), nil, .overlongKey),
        PolicyRow(
            "a string too long", Point("m", fields: ["f": .string(long + "é")], timestamp: time),
            "m f=\"\(long)\" 1700000000000000000", .overlongString),
        PolicyRow(
            "a newline in a string", Point("m", fields: ["f": "a\nb"], timestamp: time),
            "m f=\"a\\\\nb\" 1700000000000000000", .newlineInString),
        PolicyRow(
            "no number", Point("m", fields: ["f": .double(.nan), "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .notFinite),
        PolicyRow(
            "an infinity", Point("m", fields: ["f": .float(-.infinity), "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .notFinite),
        PolicyRow(
            "an unsigned number too large", Point("m", fields: ["f": .unsigned(.max), "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .unsignedOverflow),
        PolicyRow(
            "a time too early", Point("m", fields: ["f": 1], timestamp: .nanoseconds(.min)),
            "m f=1i -9223372036854775806", .timeOutOfRange),
        PolicyRow(
            "a time too late", Point("m", fields: ["f": 1], timestamp: .seconds(.max)), "m f=1i 9223372036854775806",
            .timeOutOfRange),
        PolicyRow("no fields", Point("m", fields: [:], timestamp: time), nil, .noFields),
        PolicyRow(
            "no field left", Point("m", fields: ["f": .double(.infinity)], timestamp: time), nil, .notFinite),
    ]
}

@Suite(.timeLimit(.minutes(10))) struct PolicyTests {
    /// The forms of appending a point.
    private enum Form: CaseIterable {
        case point, parts, series
    }

    private func append(_ point: Point, as form: Form, to encoder: inout LineEncoder) -> Bool {
        switch form {
        case .point: return encoder.append(point)
        case .parts:
            return encoder.append(point.measurement, timestamp: point.timestamp) { tags in
                tags.set(point.tags)
            } fields: { fields in
                fields.set(point.fields)
            }
        case .series:
            let series = PreparedSeries(point.measurement, tags: point.tags)
            return encoder.append(series, timestamp: point.timestamp) { $0.set(point.fields) }
        }
    }

    @Test(arguments: PolicyRow.all)
    func everyRowIsRepairedAndCountedInEveryForm(_ row: PolicyRow) throws {
        for form in Form.allCases {
            var encoder = LineEncoder(dialect: row.dialect)
            let isWritten = append(row.point, as: form, to: &encoder)
            #expect(isWritten == (row.line != nil), "\(form)")
            #expect(encoder.text == (row.line.map { $0 + "\n" } ?? ""), "\(form)")
            #expect(encoder.repairs[row.problem] == 1, "\(form)")
            #expect(encoder.repairs.droppedPoints == (row.line == nil ? 1 : 0), "\(form)")
            let points = try decoded(encoder.bytes)
            #expect(points.count == (row.line == nil ? 0 : 1), "\(form)")
            // The problem does not reach the next line.
            let repairs = encoder.repairs
            encoder.removeAll()
            encoder.append(Point("ok", fields: ["f": 1]))
            #expect(encoder.text == "ok f=1i\n", "\(form)")
            #expect(encoder.repairs == repairs, "\(form)")
        }
    }

    @Test func everyProblemHasPolicyRow() {
        #expect(Set(PolicyRow.all.map(\.problem)) == Set(LineProblem.allCases))
    }

    @Test func lastTagWithSameKeyIsKept() {
        var encoder = LineEncoder()
        encoder.append("m", timestamp: nil) { tags in
            tags.set("b", "1")
            tags.set("a", "2")
            tags.set("b", "3")
        } fields: {
            $0.set("f", 1)
        }
        #expect(encoder.text == "m,a=2,b=3 f=1i\n")
        #expect(encoder.repairs[.duplicateTag] == 1)
        encoder.append(Point("m", tags: ["a\n": "1", "a\t": "2"], fields: ["f": 1]))
        #expect(encoder.repairs[.duplicateTag] == 2)
    }

    @Test func valuesSupportedByDialectAreNotRepaired() {
        var encoder = LineEncoder(dialect: .influxDB2)
        encoder.append(Point("m", fields: ["f": "a\nb", "u": .unsigned(.max)]))
        #expect(encoder.text == "m f=\"a\nb\",u=18446744073709551615u\n")
        #expect(encoder.repairs.isEmpty)
        encoder = LineEncoder(dialect: .influxDB1)
        encoder.append(Point("m", fields: ["u": .unsigned(7)]))
        #expect(encoder.text == "m u=7i\n")
    }

    /// No value can end its line or its point.
    @Test func hostileTextStartsNoLineOrComment() throws {
        var maker = PointMaker(seed: 21)
        let hostile = [
            "x\nevil,a=b f=1 1", "x f=1\n", "\r\nevil f=1", "#", "\\", "\\\n", "a=b,c=d e=f", "\"", "\\\"", "\u{301}",
        ]
        for _ in 0..<5_000 {
            func text() -> String {
                hostile[Int.random(in: hostile.indices, using: &maker.generator)] + maker.text(upTo: 2)
            }
            let point = Point(
                text(), tags: [text(): text(), text(): text()],
                fields: [text(): .string(text()), "f": .string(text())],
                timestamp: PolicyRow.time)
            var encoder = LineEncoder()
            encoder.append(point)
            let bytes = encoder.bytes
            #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 1)
            #expect(bytes.first != UInt8(ascii: "#"))
            #expect(bytes.suffix(21).elementsEqual(" 1700000000000000000\n".utf8) || bytes.count < 21)
            #expect(try decoded(bytes).count == 1)
        }
    }
}
