import Foundation
import LineProtocol
import LoaderChain
import Testing

@testable import InfluxReporting

/// Error responses about lines; the bodies come from real servers.
@Suite(.timeLimit(.minutes(10))) struct ServerComplaintTests {
    private func complaint(_ body: String, headers: HTTPHeaders = [:]) -> ServerComplaint {
        ServerComplaint(in: response(.badRequest, body, headers: headers))
    }

    private func match(_ body: String, _ lines: [String]) -> ComplaintMatch {
        ComplaintMatch(complaint(body), in: batch(lines))
    }

    private func named(_ match: ComplaintMatch) -> [String] { match.named.map { "\($0.line) \($0.reason)" } }

    // MARK: InfluxDB 1

    @Test func quotedLinesAreFound() {
        let body =
            #"{"error":"partial write: unable to parse 'bad': missing fields\nunable to parse 'worse f=': missing field value dropped=0"}"#
        #expect(complaint(body).isPartial)
        let match = match(body, ["m f=1 1", "bad", "m f=2 2", "worse f="])
        #expect(named(match) == ["1 missing fields", "3 missing field value"])
        #expect(match.unnamedCount == 0)
    }

    @Test func quotedLineCanContainMessageText() throws {
        let awful = #"m g="x\#ny',f=  3': unable to parse 'm f=1 1': missing fields dropped=7"#
        let message =
            "partial write: unable to parse '\(awful)': unbalanced quotes\nunable to parse 'bad': missing fields dropped=0"
        let body = String(decoding: try JSONEncoder().encode(["error": message]), as: UTF8.self)
        let match = match(body, ["m f=1 1", awful, "bad", "m f=1 1"])
        #expect(named(match) == ["1 unbalanced quotes", "2 missing fields"])
        #expect(match.unnamedCount == 0)
    }

    @Test func quoteOfUnknownLineIsCounted() {
        let match = match(
            #"{"error":"partial write: unable to parse 'other': missing fields dropped=0"}"#, goodLines(5))
        #expect(match.named.isEmpty && match.unnamedCount == 1)
    }

    @Test func wordsOfQuotedLineAreIgnored() {
        // The quoted line mentions partial writes and gzip; the server's own message does not.
        let body = #"{"error":"unable to parse 'm,t=partial write gzip': missing fields"}"#
        #expect(!complaint(body).isPartial)
        #expect(!complaint(body).mayBeAboutCompression)
    }

    @Test func thousandQuotedLinesAreFound() {
        let lines = (0..<1_000).map { "badbadbadbad\($0)" }
        let message = lines.map { "unable to parse '\($0)': missing fields" }.joined(separator: #"\n"#)
        #expect(match("{\"error\":\"\(message)\"}", lines).named.map(\.line) == Array(0..<1_000))
    }

    @Test func linesWithTypeConflictAreFound() {
        let body =
            #"{"error":"partial write: field type conflict: input field \"f\" on measurement \"m\" is type integer, already exists as type float dropped=2"}"#
        let match = match(body, ["m f=1i 1", "m f=2 2", "n f=3i 3", "m g=3i 3", "m,a=b g=1,f=4i 4", "bad"])
        #expect(match.named.map(\.line) == [0, 4])
        #expect(match.unnamedCount == 0)
        #expect(match.mayHideOthers)
    }

    @Test func ambiguousTypeConflictIsOnlyCounted() {
        // Three lines match, but the server reports two.
        let body =
            #"{"error":"partial write: field type conflict: input field \"f\" on measurement \"m\" is type integer, already exists as type float dropped=2"}"#
        let match = match(body, ["m f=1i 1", "m f=2i 2", "m f=3i 3"])
        #expect(match.named.isEmpty && match.unnamedCount == 2)
    }

    @Test func linesBeyondRetentionAreFound() {
        let body = #"{"error":"partial write: points beyond retention policy dropped=2"}"#
        #expect(match(body, ["m f=1 500", "m f=1 20", "m f=1 10", "m f=1 400"]).named.map(\.line) == [1, 2])
        // Three lines have the same time, so the match is ambiguous.
        let unclear = match(body, ["m f=1 10", "n f=1 10", "o f=1 10", "m f=1 400"])
        #expect(unclear.named.isEmpty && unclear.unnamedCount == 2)
    }

    @Test func partialWriteCountsAtLeastOneLine() {
        #expect(match(#"{"error":"partial write: something new"}"#, goodLines(3)).unnamedCount == 1)
        #expect(match(#"{"error":"partial write: something new dropped=99"}"#, goodLines(3)).unnamedCount == 3)
        #expect(match(#"{"error":"partial write: something new dropped=-4"}"#, goodLines(3)).unnamedCount == 1)
    }

    // MARK: InfluxDB 2

    @Test func v2MessagesAreReadLikeV1() {
        let body = #"{"code":"invalid","message":"unable to parse 'bad': missing fields"}"#
        #expect(!complaint(body).isPartial)
        #expect(named(match(body, ["m f=1 1", "bad"])) == ["1 missing fields"])
        let partial =
            #"{"code":"unprocessable entity","message":"failure writing points to database: partial write: field type conflict: input field \"f\" on measurement \"m\" is type float, already exists as type integer dropped=1"}"#
        #expect(complaint(partial).isPartial)
        #expect(match(partial, ["m f=1i 1", "m f=2 2"]).named.map(\.line) == [1])
    }

    @Test func lineNumberAloneMakesSuspect() {
        let body = #"{"code":"invalid","line":2,"message":"failed to parse line protocol"}"#
        let match = match(body, goodLines(4))
        #expect(match.named.isEmpty && match.suspect == 1)
        #expect(self.match(#"{"code":"invalid","line":0,"message":"?"}"#, goodLines(4)).suspect == nil)
        #expect(self.match(#"{"code":"invalid","line":5,"message":"?"}"#, goodLines(4)).suspect == nil)
    }

    // MARK: InfluxDB 3

    @Test func v3LinesAreNamedByNumber() {
        let body = #"""
            {"error":"partial write of line protocol occurred","data":[
            {"original_line":"home,room=Sunroom temp=hi 17","line_number":2,"error_message":"invalid column type"},
            {"original_line":"home,room=Att","line_number":3,"error_message":"no fields"}]}
            """#
        #expect(complaint(body).isPartial)
        let match = match(body, ["home f=1 1", #"home,room=Sunroom temp="hi" 17"#, "home,room=Attic temp 1"])
        #expect(named(match) == ["1 invalid column type", "2 no fields"])
    }

    /// Comparing takes as long as the line is.
    @Test func longLineIsComparedOnce() {
        let accusation = #"{"line_number":1,"original_line":"z"}"#
        let accusations = Array(repeating: accusation, count: 50_000).joined(separator: ",")
        let match = match(
            #"{"error":"partial write of line protocol occurred","data":[\#(accusations)]}"#,
            ["m f=\"" + String(repeating: "x", count: 1 << 20) + "\"", "m f=1"])
        #expect(match.named.isEmpty && match.suspect == 0 && match.unnamedCount == 2)
    }

    @Test func v3ParsingFailureNamesItsLine() {
        let body =
            #"{"error":"parsing failed for write_lp endpoint","data":{"original_line":"bad","line_number":2,"error_message":"no fields"}}"#
        #expect(!complaint(body).isPartial)
        #expect(named(match(body, ["m f=1 1", "bad"])) == ["1 no fields"])
    }

    @Test func v3NumberWithDifferentLineMakesSuspect() {
        let body =
            #"{"error":"parsing failed for write_lp endpoint","data":{"original_line":"other","line_number":2,"error_message":"no fields"}}"#
        let match = match(body, ["m f=1 1", "bad"])
        #expect(match.named.isEmpty && match.suspect == 1)
    }

    // MARK: Other responses

    @Test(arguments: [
        "", "{", "null", "[]", "12", "\"text\"", #"{"error":12,"data":"x","line":"y"}"#,
        #"{"error":null,"data":[1,null,{}]}"#,
        #"{"error":"x","data":[{"line_number":-9223372036854775808},{"line_number":9223372036854775807}]}"#,
        #"{"error":"partial write: unable to parse '"}"#, #"{"error":"unable to parse 'unable to parse ''': ': "}"#,
        #"{"error":"field type conflict: input field \""}"#, "\u{0}\u{1F}\u{8B}", "<html>",
        "{\"error\":\"unable to par",
        String(repeating: "[", count: 100_000), "partial write: dropped=99999999999999999999999",
        "partial write: unable to parse 'x': no dropped=9223372036854775807",
    ])
    func malformedBodyGivesBoundedResult(_ body: String) {
        let complaint = complaint(body)
        let match = ComplaintMatch(complaint, in: batch(goodLines(3)))
        #expect(match.named.allSatisfy { (0..<3).contains($0.line) })
        #expect((0...3).contains(match.unnamedCount))
        #expect(complaint.reason.count <= 1_001 && !complaint.reason.isEmpty)
        #expect(complaint.reason.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }

    /// Bodies of servers, mutated at random.
    @Test(arguments: 0..<8 as Range<UInt64>) func mutatedBodyGivesValidMatch(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let lines = ["m f=1i 1", "bad", "worse f=", #"m g="x\#ny" 5"#, "m f=2 6"]
        let bodies = [
            #"{"error":"partial write: unable to parse 'bad': missing fields\nunable to parse 'worse f=': missing field value dropped=0"}"#,
            #"{"error":"partial write: field type conflict: input field \"f\" on measurement \"m\" is type integer, already exists as type float dropped=2"}"#,
            #"{"error":"partial write of line protocol occurred","data":[{"original_line":"bad","line_number":2,"error_message":"no"}]}"#,
            #"{"code":"invalid","line":2,"message":"unable to parse 'bad': missing fields"}"#,
        ]
        for _ in 0..<400 {
            var bytes = Array((bodies.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes.suffix(Int.random(in: 0...30, using: &generator)), at: place)
                default: bytes.removeLast(min(bytes.count - 1, Int.random(in: 0...20, using: &generator)))
                }
            }
            var answer = response(.badRequest)
            answer.body = Data(bytes)
            let match = ComplaintMatch(ServerComplaint(in: answer), in: batch(lines))
            #expect(match.named.map(\.line) == Array(Set(match.named.map(\.line))).sorted())
            #expect(match.named.allSatisfy { (0..<5).contains($0.line) })
            #expect((0...5).contains(match.unnamedCount + match.named.count))
            if let suspect = match.suspect { #expect((0..<5).contains(suspect)) }
        }
    }

    @Test func hugeBodyIsReadInPart() {
        let long = String(repeating: "x", count: 9 << 20)
        let complaint = complaint(#"{"error":"\#(long)"}"#)
        #expect(complaint.message.utf8.count == ServerComplaint.greatestBody)
        #expect(complaint.reason.count == 1_001)
    }

    @Test func headerReplacesEmptyBody() {
        #expect(complaint("", headers: ["X-Influxdb-Error": "database is required"]).reason == "database is required")
    }

    @Test(arguments: [
        "gzip: invalid header", "unexpected EOF", #"{"error":"Content-Encoding not supported"}"#,
        #"{"error":"unable to parse '\#u{FFFD}\#u{08}': missing fields"}"#,
        "{\"error\":\"unable to parse '\\u001f\\ufffd': missing fields\"}",
    ])
    func compressionErrorsAreRecognized(_ body: String) {
        let isExpected = !body.contains("\u{08}")
        #expect(complaint(body).mayBeAboutCompression == isExpected)
    }
}
