import LineProtocol
import Testing

@Suite(.timeLimit(.minutes(10))) struct LineDecoderTests {
    @Test func carriageReturnEndsNoLine() throws {
        #expect(try decoded("a s=\"x\r\ny\" 1\n".utf8).first?.fields["s"] == "x\r\ny")
        #expect(refusal("b i=2i 1\r\n") != nil)
    }

    @Test(arguments: SyntaxTable.taken + SyntaxTable.takenLater)
    func decoderReadsValidLines(_ line: String, _ point: Point) throws {
        let found = try #require(try decoded(line.utf8).first)
        #expect(found.isIdentical(to: point))
    }

    @Test(arguments: SyntaxTable.refused + SyntaxTable.refusedHere)
    func decoderRejectsInvalidLines(_ line: String, _ code: LineDecodingError.Code, _ column: Int) {
        #expect(
            results(("first f=1\n" + line + "\nlast f=1\n").utf8) == [
                .success(Point("first", fields: ["f": 1.0])),
                .failure(LineDecodingError(line: 2, column: column, code: code)),
                .success(Point("last", fields: ["f": 1.0])),
            ])
    }

    @Test func syntaxTableCoversErrorCodes() {
        let shown = Set((SyntaxTable.refused + SyntaxTable.refusedHere).map(\.code))
        #expect(Set(LineDecodingError.Code.allCases).subtracting(shown) == [.overlongLine, .invalidUTF8])
    }

    @Test func emptyLinesAndCommentsAreSkipped() {
        let text = "\n  \n\t\n# a =\"comment\n \t# another\nm f=1\n#last"
        #expect(results(text.utf8) == [.success(Point("m", fields: ["f": 1.0]))])
        #expect(results("".utf8).isEmpty)
        #expect(results("\n\n# x\nm".utf8) == [.failure(LineDecodingError(line: 4, column: 2, code: .missingFields))])
    }

    @Test func invalidUTF8IsRejected() {
        for line in [[0x6D, 0xFF], [0x6D, 0x2C, 0x6B, 0x3D, 0xC3], [0x6D, 0x20, 0x66, 0xED, 0xA0, 0x80]] as [[UInt8]] {
            let text = line + Array(" f=1\nm f=1\n".utf8)
            let found = results(text)
            guard case .failure(let error)? = found.first else {
                Issue.record("\(found)")
                return
            }
            #expect(
                error.code == .invalidUTF8 || error.code == .missingFields || error.code == .missingFieldValue)
            #expect(found.last == .success(Point("m", fields: ["f": 1.0])))
        }
        let string = Array("m f=\"".utf8) + [0xC0, 0xAF] + Array("\"".utf8)
        #expect(results(string) == [.failure(LineDecodingError(line: 1, column: 5, code: .invalidUTF8))])
    }

    @Test(arguments: Precision.allCases)
    func timestampsAreReadInTheirPrecision(_ precision: Precision) throws {
        let unit = precision.nanosecondsPerUnit
        let last = Timestamp.latest.nanoseconds / unit
        #expect(try decoded("m f=1 \(last)".utf8, precision).first?.timestamp == Timestamp(last, precision))
        #expect(try decoded("m f=1 \(-last)".utf8, precision).first?.timestamp == Timestamp(-last, precision))
        #expect(throws: LineDecodingError(line: 1, column: 7, code: .timestampOutOfRange)) {
            try decoded("m f=1 \(last + 1)".utf8, precision)
        }
    }

    @Test func manyFieldsAreReadInTheirOrder() throws {
        let keys = (0..<3_000).map { "f\($0 % 2_000)" }
        let line = "m " + keys.enumerated().map { "\($1)=\($0)i" }.joined(separator: ",")
        let point = try #require(try decoded(line.utf8).first)
        #expect(point.fields.map(\.key) == (0..<2_000).map { "f\($0)" })
        #expect(
            point.fields.map(\.value) == (0..<2_000 as Range<Int64>).map {
                FieldValue.integer($0 < 1_000 ? $0 + 2_000 : $0)
            } as [FieldValue])
    }

    // MARK: Pieces

    @Test func pieceSizeDoesNotChangeResults() {
        let text = Array(
            (SyntaxTable.taken.map(\.line) + [
                "# c =\"", "", "bad", "m f=\"x\ny\nz\" bad", "m f=\"é\"", "m f=\"open\nm f=2",
            ])
            .joined(separator: "\n").utf8)
        let expected = results(text)
        #expect(expected.count == SyntaxTable.taken.count + 5)
        for size in [1, 2, 3, 5, 7, 16, 61, 500] {
            var decoder = LineDecoder()
            var found: [Result<Point, LineDecodingError>] = []
            for start in stride(from: 0, to: text.count, by: size) {
                decoder.decode(text[start..<min(start + size, text.count)]) { found.append($0) }
            }
            decoder.finish { found.append($0) }
            #expect(found == expected, "pieces of \(size)")
        }
    }

    @Test func unterminatedStringLosesOnlyItsLine() {
        let found = results("a f=1\nb f=\"open\nc f=3\n\nd f=4".utf8)
        #expect(
            found == [
                .success(Point("a", fields: ["f": 1.0])),
                .failure(LineDecodingError(line: 2, column: 5, code: .unterminatedString)),
                .success(Point("c", fields: ["f": 3.0])), .success(Point("d", fields: ["f": 4.0])),
            ])
    }

    @Test func errorAfterMultilineStringNamesItsLine() {
        let found = results("m f=\"a\nb\",g=x 5\nm f=1 x".utf8)
        #expect(
            found == [
                .failure(LineDecodingError(line: 2, column: 6, code: .invalidValue)),
                .failure(LineDecodingError(line: 3, column: 7, code: .invalidTimestamp)),
            ])
    }

    /// The end of each of these lines opens a string, also if the line itself began within one.
    ///
    /// Time that grows with the square would exceed the limit of the test.
    @Test(arguments: [1 << 24, 1 << 16]) func textOfOpenStringsTakesLinearTime(_ longest: Int) {
        let count = 20_000
        let text = String(repeating: "a b=\" \",c=\"\n", count: count) + "m f=1"
        var decoder = LineDecoder(maximumLineLength: longest)
        var (failures, points) = (0, 0)
        let take: (Result<Point, LineDecodingError>) -> Void = { result in
            if case .success = result { points += 1 } else { failures += 1 }
        }
        decoder.decode(text.utf8, take)
        decoder.finish(take)
        #expect(failures > count / 2 && points <= 1)
    }

    @Test func tagsBeyondLimitAreRefusedBeforeTheyAreSorted() {
        let tags = (0..<20_000).reversed().map { "k\(1_000_000 + $0)=v" }.joined(separator: ",")
        var decoder = LineDecoder()
        var errors: [LineDecodingError] = []
        decoder.decode("m,\(tags) f=1\n".utf8) { if case .failure(let error) = $0 { errors.append(error) } }
        #expect(errors.map(\.code) == [.overlongKey] && errors.allSatisfy { $0.column < 66_000 })
    }

    @Test(arguments: [1, 3, 1_000])
    func overlongLineIsRejectedAndNextLineIsRead(_ size: Int) {
        let long = "m f=\"" + String(repeating: "x", count: 300) + "\""
        let open = "m f=\"open\nb f=2\nc f=\"" + String(repeating: "y\n", count: 5)
        let text = Array("a f=1\n\(long)\nb f=2\n\(open)".utf8) + Array(repeating: UInt8(ascii: "z"), count: 300)
        var decoder = LineDecoder(maximumLineLength: 100)
        var found: [String] = []
        let take: (Result<Point, LineDecodingError>) -> Void = { result in
            switch result {
            case .success(let point): found.append(point.measurement)
            case .failure(let error): found.append("\(error.line) \(error.code.rawValue)")
            }
        }
        for start in stride(from: 0, to: text.count, by: size) {
            decoder.decode(text[start..<min(start + size, text.count)], take)
        }
        decoder.finish(take)
        #expect(found.prefix(3) == ["a", "2 overlongLine", "b"])
        #expect(found.contains("b") && found.last?.hasSuffix("overlongLine") == true, "\(found)")
    }

    @Test(arguments: [1, 7, 1_000])
    func commentLengthIsNotLimited(_ size: Int) {
        let (long, other) = (String(repeating: "x \\\"=,", count: 100), String(repeating: "y", count: 300))
        let text = Array("a f=1\n # \(long)\nb\nc f=3\n#\(other)".utf8)
        var decoder = LineDecoder(maximumLineLength: 100)
        var found: [Result<Point, LineDecodingError>] = []
        for start in stride(from: 0, to: text.count, by: size) {
            decoder.decode(text[start..<min(start + size, text.count)]) { found.append($0) }
        }
        decoder.finish { found.append($0) }
        decoder.decode("d\n".utf8) { found.append($0) }
        #expect(
            found == [
                .success(Point("a", fields: ["f": 1.0])),
                .failure(LineDecodingError(line: 3, column: 2, code: .missingFields)),
                .success(Point("c", fields: ["f": 3.0])),
                .failure(LineDecodingError(line: 6, column: 2, code: .missingFields)),
            ])
    }

    /// A comment counts as a line, even at the end of the text.
    @Test func commentAfterUnterminatedStringCountsAsLine() {
        var decoder = LineDecoder()
        var lines: [Int] = []
        let take: (Result<Point, LineDecodingError>) -> Void = { result in
            if case .failure(let error) = result { lines.append(error.line) }
        }
        decoder.decode("m f=\"open\nc f=3\n# comment".utf8, take)
        decoder.finish(take)
        decoder.decode("d\n".utf8, take)
        #expect(lines == [1, 4])
    }

    @Test func decoderIsReusableAfterFinish() {
        var decoder = LineDecoder()
        var found: [Result<Point, LineDecodingError>] = []
        decoder.decode("m f=\"open".utf8) { found.append($0) }
        decoder.finish { found.append($0) }
        decoder.decode("m f=1\n".utf8) { found.append($0) }
        #expect(found.count == 2 && found.last == .success(Point("m", fields: ["f": 1.0])))
    }
}
