import Foundation
import LoaderChain
import Testing

@testable import MetricKitReporting

/// Texts that try to exhaust the memory, and texts in other encodings.
@Suite(.timeLimit(.minutes(10)))
struct HostileInputTests {
    private static func repeated(_ text: String, _ count: Int) -> [UInt8] {
        let unit = Array(text.utf8)
        if unit.count == 1 { return Array(repeating: unit[0], count: count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(unit.count * count)
        for _ in 0..<count { bytes += unit }
        return bytes
    }

    private static func error(_ bytes: [UInt8]) -> PayloadError? {
        guard case .unreadable(let kept, let error) = MetricKitReport(Data(bytes)), kept.count == bytes.count else {
            return nil
        }
        return error
    }

    @Test func depthIsBounded() {
        let limits = JSONLimits(bytes: 1_000, depth: 3, values: 100)
        #expect(throws: Never.self) { try JSONDocument(Array("[[[1]],[{}]]".utf8), limits: limits) }
        #expect(throws: JSONProblem(reason: .tooDeep, offset: 7)) {
            try JSONDocument(Array("[[[1],[[]]]]".utf8), limits: limits)
        }
        #expect(throws: JSONProblem(reason: .tooDeep, offset: JSONLimits.standard.depth)) {
            try JSONDocument(Self.repeated("[", 1_000_000))
        }
        #expect(Self.error(Self.repeated("[", 1_000_000))?.code == .tooLarge)
    }

    @Test func numberOfValuesIsBounded() {
        let limits = JSONLimits(bytes: 1_000, depth: 10, values: 5)
        #expect(throws: Never.self) { try JSONDocument(Array(#"{"a":[1,2]}"#.utf8), limits: limits) }
        for text in [#"{"a":[1,2,3]}"#, #"[1,2,3,4,"5"]"#, "[[],[],[],[],[]]", "[1,2,3,4,null]"] {
            let problem = #expect(throws: JSONProblem.self) { try JSONDocument(Array(text.utf8), limits: limits) }
            #expect(problem?.reason == .tooMany, "\(text)")
        }
        // The size of the table is known before anything is read.
        #expect(JSONLimits.standard.values * MemoryLayout<JSONDocument.Entry>.stride <= 64 << 20)
    }

    @Test func lengthIsBounded() {
        let limits = JSONLimits(bytes: 10, depth: 10, values: 10)
        #expect(throws: Never.self) { try JSONDocument(Array("\"12345678\"".utf8), limits: limits) }
        #expect(throws: JSONProblem(reason: .tooLong, offset: 10)) {
            try JSONDocument(Array("\"123456789\"".utf8), limits: limits)
        }
        #expect(Self.error(Self.repeated(" ", JSONLimits.standard.bytes + 1))?.code == .tooLarge)
    }

    /// Each of these becomes a value with a path and bytes of its own.
    @Test(arguments: [
        #"{"signpostMetrics":[1"#, #"{"crashDiagnostics":[1"#, #"{"timeStampEnd":"","a":1,"intervalEntries":[1"#,
    ])
    func misplacedValuesAreBounded(_ begin: String) throws {
        let few = Array(begin.utf8) + Self.repeated(",1", 100) + Array("]}".utf8)
        #expect(Self.error(few) == nil)
        // An array of too many signposts or intervals is a single leftover; diagnostics are counted.
        let many = Array(begin.utf8) + Self.repeated(",1", JSONLimits.kept + 10) + Array("]}".utf8)
        switch MetricKitReport(Data(many)) {
        case .metrics(let payload): #expect(payload.leftovers.count < 10)
        case .unreadable(_, let error): #expect(error.code == .tooLarge)
        case .diagnostics: Issue.record("\(JSONLimits.kept) values are kept")
        }
    }

    @Test func lengthOfCountsIsBounded() throws {
        func count(digits: Int) throws -> Int? {
            let text = String(repeating: "0", count: digits - 1) + "7"
            return SectionReader.count(try JSONDocument(Array("\"\(text)\"".utf8)).root)
        }
        #expect(try count(digits: QuantityText.longest) == 7)
        #expect(try count(digits: QuantityText.longest + 1) == nil)
    }

    @Test func unknownMembersAreBounded() {
        let members = (0...JSONLimits.kept).map { "\"\($0)\":1" }.joined(separator: ",")
        #expect(Self.error(Array("{\"appVersion\":\"1\",\(members)}".utf8))?.code == .tooLarge)
    }

    @Test func diagnosticsAreBounded() throws {
        let begin = Array(#"{"crashDiagnostics":[{}"#.utf8)
        let all = begin + Self.repeated(",{}", JSONLimits.kept) + Array("]}".utf8)
        let error = #expect(throws: PayloadError.self) { try DiagnosticPayload(Data(all)) }
        #expect(error?.code == .tooLarge && error?.reason.contains("\(JSONLimits.kept + 1)") == true)
        let fewer = begin + Self.repeated(",{}", JSONLimits.kept - 1) + Array("]}".utf8)
        #expect(try DiagnosticPayload(Data(fewer)).diagnostics.count == JSONLimits.kept)
    }

    @Test func framesAreBounded() throws {
        let begin = #"{"hangDiagnostics":[{"callStackTree":{"callStacks":[{"callStackRootFrames":[{}"#
        let text = Array(begin.utf8) + Self.repeated(",{}", JSONLimits.frames) + Array("]}]}}]}".utf8)
        let diagnostic = try #require(try DiagnosticPayload(Data(text)).diagnostics.first)
        #expect(diagnostic.callStackTree == nil)
        #expect(diagnostic.leftovers.map(\.path) == ["callStackTree"])
    }

    @Test(arguments: ["null", "[]", "{}", "false", "7", "\"\""])
    func emptyDiagnosticsSectionKeepsMetrics(_ empty: String) throws {
        let hangs = #""applicationTimeMetrics":{"cumulativeForegroundTime":"700 sec"}"#
        for text in [
            #"{"crashDiagnostics":\#(empty),\#(hangs)}"#, #"{\#(hangs),"hangDiagnostics":\#(empty),"result":null}"#,
        ] {
            let payload = try MetricPayload(text)
            #expect(payload.applicationTime?.foreground == .seconds(700))
            guard case .metrics = MetricKitReport(Data(text.utf8)) else {
                Issue.record("\(text) is no payload of metrics")
                continue
            }
        }
        let range = #""timeStampBegin":"2025-10-10 00:00:00""#
        guard case .diagnostics(let payload) = MetricKitReport(Data("{\(range),\"crashDiagnostics\":\(empty)}".utf8))
        else {
            Issue.record("diagnostics without any are none")
            return
        }
        #expect(payload.diagnostics.isEmpty && payload.timeRange.begin != nil)
    }

    @Test func payloadWithoutDiagnosticsIsAccepted() throws {
        #expect(try DiagnosticPayload(#"{"crashDiagnostics":[]}"#).diagnostics.isEmpty)
        #expect(try DiagnosticPayload(#"{"crashDiagnostics":[ ],"other":[ ]}"#).leftovers.map(\.path) == ["other"])
        #expect(throws: PayloadError.self) { try DiagnosticPayload(#"{"other":[]}"#) }
    }

    @Test func errorDescriptionHasReasonAndAdvice() {
        let cut: any Error = Self.error(Array("{\"appVersion\":".utf8)) ?? PayloadError(code: .notAPayload, reason: "")
        #expect(
            cut.localizedDescription
                == "The payload is not valid JSON: an unexpected end, at byte 14. Pass the complete bytes of `jsonRepresentation()`."
        )
        #expect(
            Self.error(Array("[]".utf8))?.localizedDescription
                == "The JSON is not a payload: it has none of a payload's keys. Use `MetricKitReport` for payloads of any kind."
        )
        #expect(
            Self.error(Self.repeated("[", 100_000))?.localizedDescription
                == "The payload is too large: more than 65,536 nested objects and arrays, at byte 65536. "
                + "Keep the bytes, and find out which program wrote them.")
    }

    /// One character for Swift, and 200,000 bytes.
    @Test func longNameOfResultIsNotCopiedIntoLeftovers() throws {
        let name = "a" + String(repeating: "\u{301}", count: 100_000)
        let members = (0..<50).map { "\"\($0)\":1" }.joined(separator: ",")
        let payload = try DiagnosticPayload("{\"result\":{\"\(name)\":{\(members)}}}")
        let diagnostic = try #require(payload.diagnostics.first)
        #expect(diagnostic.details == .unknown(name))
        #expect(diagnostic.leftovers.count == 50)
        #expect(diagnostic.leftovers.allSatisfy { $0.path.utf8.count < 1_000 })
    }

    @Test func leftoversOfAllDiagnosticsAreCounted() {
        let one = "{" + (0..<100).map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        let all = Array(repeating: one, count: 200).joined(separator: ",")
        let error = #expect(throws: PayloadError.self) { try DiagnosticPayload("{\"hangDiagnostics\":[\(all)]}") }
        #expect(error?.code == .tooLarge)
    }
}
