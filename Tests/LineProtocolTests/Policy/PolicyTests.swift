import LineProtocol
import Testing

/// One row of the policy: a point, the line it becomes or nothing, and the problem that is counted or thrown.
struct PolicyRow: Sendable, CustomTestStringConvertible {
    let name: String
    let point: Point
    let line: String?
    let error: LineEncodingError
    var dialect = LineDialect.portable

    var testDescription: String { name }

    init(
        _ name: String, _ point: Point, _ line: String?, _ part: LineEncodingError.Part, _ problem: LineProblem,
        dialect: LineDialect = .portable
    ) {
        self.name = name
        self.point = point
        self.line = line
        error = LineEncodingError(part, problem)
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
            "a-b\\ f=1 f=1i 1700000000000000000", .measurement("a\nb f=1"), .controlCharacter),
        PolicyRow(
            "a newline in a tag's key", tagged("a\nb", "v"), "m,a-b=v f=1i 1700000000000000000", .tag("a\nb"),
            .controlCharacter),
        PolicyRow(
            "line ends in a tag's value", tagged("k", "a\r\nb\tc\0"), "m,k=a--b-c- f=1i 1700000000000000000",
            .tag("k"), .controlCharacter),
        PolicyRow(
            "a newline in a field's key", Point("m", fields: ["a\nb": 1], timestamp: time),
            "m a-b=1i 1700000000000000000", .field("a\nb"), .controlCharacter),
        PolicyRow(
            "a trailing backslash", tagged("k", "C:\\dir\\"), "m,k=C:\\dir- f=1i 1700000000000000000", .tag("k"),
            .ambiguousBackslash),
        PolicyRow(
            "a doubled backslash", tagged("k", "\\\\server\\share"), "m,k=--server\\share f=1i 1700000000000000000",
            .tag("k"), .ambiguousBackslash),
        PolicyRow(
            "a backslash before a space", tagged("a\\ b", "v"), "m,a-\\ b=v f=1i 1700000000000000000", .tag("a\\ b"),
            .ambiguousBackslash),
        PolicyRow(
            "a backslash before a quote", Point("m", fields: ["a\\\"b": 1], timestamp: time),
            "m a-\"b=1i 1700000000000000000", .field("a\\\"b"), .ambiguousBackslash),
        PolicyRow(
            "a measurement that begins with #", Point("#m", fields: ["f": 1], timestamp: time),
            "-m f=1i 1700000000000000000", .measurement("#m"), .leadingHash),
        PolicyRow(
            "a reserved measurement", Point("_m x", fields: ["f": 1], timestamp: time),
            "-m\\ x f=1i 1700000000000000000", .measurement("_m x"), .reservedName),
        PolicyRow(
            "a tag called time", tagged("time", "v"), "m,time_=v f=1i 1700000000000000000", .tag("time"),
            .reservedName),
        PolicyRow(
            "a field called time", Point("m", fields: ["time": 1], timestamp: time), "m time_=1i 1700000000000000000",
            .field("time"), .reservedName),
        PolicyRow(
            "a reserved tag", tagged("_k,", "v"), "m,-k\\,=v f=1i 1700000000000000000", .tag("_k,"), .reservedName),
        PolicyRow(
            "an empty measurement", Point("", tags: ["k": "v"], fields: ["f": 1], timestamp: time), nil,
            .measurement(""), .emptyMeasurement),
        PolicyRow("an empty tag's key", tagged("", "v"), "m f=1i 1700000000000000000", .tag(""), .emptyTagKey),
        PolicyRow("an empty tag's value", tagged("k", ""), "m f=1i 1700000000000000000", .tag("k"), .emptyTagValue),
        PolicyRow(
            "an empty field's key", Point("m", fields: ["": 1, "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .field(""), .emptyFieldKey),
        PolicyRow(
            "a duplicate tag", Point("m", tags: ["a\n": "1", "a\t": "2"], fields: ["f": 1], timestamp: time),
            "m,a-=1 f=1i 1700000000000000000", .tag("a\t"), .controlCharacter),
        PolicyRow(
            "a field's key too long", Point("m", fields: [long: 1, "f": 1], timestamp: time),
            "m f=1i 1700000000000000000", .field(long), .overlongKey),
        PolicyRow("a series too long", tagged("k", long), nil, .point, .overlongKey),
        PolicyRow(
            "a string too long", Point("m", fields: ["f": .string(long + "é")], timestamp: time),
            "m f=\"\(long)\" 1700000000000000000", .field("f"), .overlongString),
        PolicyRow(
            "a newline in a string", Point("m", fields: ["f": "a\nb"], timestamp: time),
            "m f=\"a\\\\nb\" 1700000000000000000", .field("f"), .newlineInString),
        PolicyRow(
            "no number", Point("m", fields: ["f": .double(.nan), "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .field("f"), .notFinite),
        PolicyRow(
            "an infinity", Point("m", fields: ["f": .float(-.infinity), "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .field("f"), .notFinite),
        PolicyRow(
            "an unsigned number too large", Point("m", fields: ["f": .unsigned(.max), "g": 2], timestamp: time),
            "m g=2i 1700000000000000000", .field("f"), .unsignedOverflow),
        PolicyRow(
            "a time too early", Point("m", fields: ["f": 1], timestamp: .nanoseconds(.min)),
            "m f=1i -9223372036854775806", .timestamp, .timeOutOfRange),
        PolicyRow(
            "a time too late", Point("m", fields: ["f": 1], timestamp: .seconds(.max)), "m f=1i 9223372036854775806",
            .timestamp, .timeOutOfRange),
        PolicyRow("no fields", Point("m", fields: [:], timestamp: time), nil, .point, .noFields),
        PolicyRow(
            "no field left", Point("m", fields: ["f": .double(.infinity)], timestamp: time), nil, .field("f"),
            .notFinite),
    ]
}

@Suite(.timeLimit(.minutes(10))) struct PolicyTests {
    @Test(arguments: PolicyRow.all)
    func everyRowIsRepairedAndCounted(_ row: PolicyRow) throws {
        var encoder = LineEncoder(dialect: row.dialect)
        let isWritten = encoder.append(row.point)
        #expect(isWritten == (row.line != nil))
        #expect(encoder.text == (row.line.map { $0 + "\n" } ?? ""))
        #expect(encoder.repairs[row.error.code] >= 1)
        #expect(encoder.repairs.droppedPoints == (row.line == nil ? 1 : 0))
        let points = try decoded(encoder.bytes)
        #expect(points.count == (row.line == nil ? 0 : 1))
    }

    @Test(arguments: PolicyRow.all)
    func strictAppendRejectsEveryRowOnEveryPath(_ row: PolicyRow) {
        var encoder = LineEncoder(dialect: row.dialect)
        #expect(throws: row.error) { try encoder.appendStrictly(row.point) }
        #expect(throws: row.error) {
            try encoder.appendStrictly(row.point.measurement, timestamp: row.point.timestamp) { tags in
                tags.set(row.point.tags)
            } fields: { fields in
                fields.set(row.point.fields)
            }
        }
        let series = PreparedSeries(row.point.measurement, tags: row.point.tags)
        #expect(throws: row.error) {
            try encoder.appendStrictly(series, timestamp: row.point.timestamp) { $0.set(row.point.fields) }
        }
        #expect(encoder.isEmpty)
        #expect(encoder.repairs.isEmpty)
        encoder.append(Point("ok", fields: ["f": 1]))
        #expect(encoder.text == "ok f=1i\n")
    }

    @Test func everyProblemHasPolicyRow() {
        let shown = Set(PolicyRow.all.map(\.error.code))
        #expect(Set(LineProblem.allCases).subtracting(shown) == [.duplicateTag])  // Shown by the next test.
    }

    @Test func lastTagWithSameKeyIsKept() {
        var encoder = LineEncoder()
        let write: (inout TagWriter) -> Void = { tags in
            tags.set("b", "1")
            tags.set("a", "2")
            tags.set("b", "3")
        }
        encoder.append("m", timestamp: nil, tags: write, fields: { $0.set("f", 1) })
        #expect(encoder.text == "m,a=2,b=3 f=1i\n")
        #expect(encoder.repairs[.duplicateTag] == 1)
        #expect(throws: LineEncodingError(.tag("b"), .duplicateTag)) {
            try encoder.appendStrictly("m", timestamp: nil, tags: write, fields: { $0.set("f", 1) })
        }
        encoder.append(Point("m", tags: ["a\n": "1", "a\t": "2"], fields: ["f": 1]))
        #expect(encoder.repairs[.duplicateTag] == 2)
    }

    @Test func errorNamesKeyAndReason() {
        let error = LineEncodingError(.tag("ho\nst"), .controlCharacter)
        #expect(error.description == #"tag "ho\nst": a control character has no encoding in a name"#)
        let long = LineEncodingError(.field(PolicyRow.long), .overlongKey)
        #expect(long.description.count < 200)
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
