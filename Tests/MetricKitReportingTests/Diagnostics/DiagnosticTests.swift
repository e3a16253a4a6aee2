import Foundation
import LineProtocol
import LoaderChain
import TestSizes
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct DiagnosticTests {
    @Test(arguments: [Diagnostics.ios14, Diagnostics.ios16, Diagnostics.ios26])
    func diagnosticsOfEverySystemAreRead(_ text: String) throws {
        let payload = try DiagnosticPayload(text)
        #expect(payload.timeRange.begin != nil && payload.timeRange.begin == payload.timeRange.end)
        #expect(payload.leftovers.isEmpty)
        let diagnostics = payload.diagnostics
        #expect(
            diagnostics.prefix(4).map(\.details.name) == ["crash", "hang", "CPU exception", "disk write exception"])
        #expect(diagnostics.allSatisfy { $0.appVersion == "1.2" })
        #expect(diagnostics.prefix(4).allSatisfy { $0.metaData.deviceType?.hasPrefix("iPhone") == true })
        guard case .crash(let crash) = diagnostics[0].details, case .hang(let hang) = diagnostics[1].details,
            case .cpuException(let cpu) = diagnostics[2].details,
            case .diskWriteException(let disk) = diagnostics[3].details
        else {
            Issue.record("the kinds are wrong")
            return
        }
        #expect(crash.exceptionType == 1 && crash.exceptionCode == 0 && crash.signal == 11)
        #expect(crash.terminationReason == "Namespace SIGNAL, Code 0xb")
        #expect(crash.virtualMemoryRegionInfo == "0 is not in any region.")
        #expect(hang.duration == .seconds(20))
        #expect(cpu.totalCPUTime == .seconds(20) && cpu.totalSampledTime == .seconds(30))
        #expect(disk.writtenBytes == 2_000)
    }

    @Test func additionsOfIOS26AreRead() throws {
        let diagnostics = try DiagnosticPayload(Diagnostics.ios26).diagnostics
        guard case .crash(let crash) = diagnostics[0].details, case .hang(let hang) = diagnostics[1].details,
            case .appLaunch(let launch) = diagnostics[4].details
        else {
            Issue.record("the kinds are wrong")
            return
        }
        #expect(crash.exceptionReason?.exceptionName == "NSRangeException")
        #expect(crash.exceptionReason?.composedMessage == "index 5 beyond bounds")
        #expect(hang.type == "Main Runloop Hang")
        #expect(launch.duration == .seconds(12))
        #expect(diagnostics[0].metaData.processIdentifier == nil)
        #expect(diagnostics[5].details == .unknown("memoryExceptionDiagnostics"))
        #expect(diagnostics[5].leftovers.map(\.path) == ["diagnosticMetaData.limit"])
        #expect(diagnostics[0].leftovers.map(\.path) == ["diagnosticMetaData.objectiveCexceptionReason.arguments"])
    }

    /// A later system may write nothing but diagnostics of a kind that is not known yet.
    @Test(arguments: ["", #""timeStampBegin":"2026-01-01 00:00:00","timeStampEnd":"2026-01-02 00:00:00","#])
    func unknownKindAloneMakesPayloadOfDiagnostics(_ times: String) throws {
        let section = #""memoryExceptionDiagnostics":[{"diagnosticMetaData":{"appVersion":"1.2"}}]"#
        let text = "{\(times)\(section)}"
        guard case .diagnostics(let payload) = MetricKitReport(Data(text.utf8)) else {
            Issue.record("it is no payload of diagnostics")
            return
        }
        #expect(payload.diagnostics.map(\.details) == [.unknown("memoryExceptionDiagnostics")])
        #expect(payload.diagnostics.map(\.appVersion) == ["1.2"])
        #expect(throws: PayloadError.self) { try MetricPayload(text) }
    }

    @Test func reportOfIOS27IsRead() throws {
        let payload = try DiagnosticPayload(Diagnostics.ios27)
        let diagnostic = try #require(payload.diagnostics.first)
        #expect(payload.diagnostics.count == 1 && payload.leftovers.isEmpty && diagnostic.leftovers.isEmpty)
        guard case .hang(let hang) = diagnostic.details else {
            Issue.record("it is no hang")
            return
        }
        #expect(hang.duration == .milliseconds(1_250))
        #expect(diagnostic.appVersion == "1.2" && diagnostic.metaData.appBuildVersion == "345")
        #expect(diagnostic.callStackTree?.stacks.count == 2)
        #expect(payload.timeRange.begin == .instant(.seconds(1_782_864_000)))
    }

    @Test func framesAreListedInPreorder() throws {
        let tree = try #require(DiagnosticPayload(Diagnostics.ios16).diagnostics.first?.callStackTree)
        #expect(tree.isPerThread == true && tree.stacks.map(\.isAttributed) == [false, true])
        let frames = tree.stacks[1].frames
        #expect(frames.map(\.depth) == [0, 1, 2, 3, 0])
        #expect(frames.map(\.parent) == [nil, 0, 1, 2, nil])
        #expect(frames.map(\.offset) == [165_304, 165_311, 165_318, 165_325, 500])
        #expect(frames[0].binary?.name == "Example" && frames[1].binary?.name == "libexample.dylib")
        #expect(frames[1].binary?.uuid == "77A62F2E-8212-30F3-84C1-E8497440ACF8")
        #expect(frames[0].address == 4_295_165_304 && frames[0].sampleCount == 20)
    }

    @Test func deepCallStackTreeIsRead() throws {
        let depth = 30_000
        let open = #"{"binaryName":"a","subFrames":["#
        let tree =
            #"{"callStacks":[{"callStackRootFrames":["# + String(repeating: open, count: depth)
            + String(repeating: "]}", count: depth) + "]}]}"
        let payload = try DiagnosticPayload(#"{"crashDiagnostics":[{"callStackTree":\#(tree)}]}"#)
        let frames = try #require(payload.diagnostics.first?.callStackTree?.stacks.first?.frames)
        #expect(frames.count == depth)
        #expect(frames.last?.depth == depth - 1 && frames.last?.parent == depth - 2)
        guard case .crash = payload.diagnostics[0].details else {
            Issue.record("a crash of which nothing else is known is none")
            return
        }
    }

    @Test func invalidFramesBecomeLeftovers() throws {
        let tree =
            #"{"callStacks":[7,{"callStackRootFrames":[null,{"address":-1,"offsetIntoBinaryTextSegment":1653.4,"subFrames":{}},{"sampleCount":"x"}]}]}"#
        let diagnostic = try #require(
            DiagnosticPayload(#"{"hangDiagnostics":[{"callStackTree":\#(tree)},5]}"#).diagnostics.first)
        #expect(diagnostic.callStackTree?.stacks.map(\.frames.count) == [2])
        #expect(diagnostic.callStackTree?.stacks[0].frames.map(\.address) == [nil, nil])
        #expect(diagnostic.callStackTree?.stacks[0].frames.map(\.offset) == [nil, nil])
        #expect(diagnostic.leftovers.map(\.json.description) == ["7", "null"])
    }

    @Test func structureInsideStringsIsIgnored() throws {
        let payload = try DiagnosticPayload(
            #"""
            {"a\"\\":"\\\"}{][\u005d","n" : -1.5e3 ,"hangDiagnostics":[{"b\"]":"\\"},true,"\"",[ ],-0 , {"c":["}\""]}],"x":[]}
            """#)
        #expect(payload.diagnostics.map(\.json.description) == [#"{"b\"]":"\\"}"#, #"{"c":["}\""]}"#])
        #expect(
            payload.leftovers.map { "\($0.path) \($0.json)" } == [
                "hangDiagnostics true", #"hangDiagnostics "\"""#, "hangDiagnostics [ ]", "hangDiagnostics -0",
                #"a"\ "\\\"}{][\u005d""#, "n -1.5e3", "x []",
            ])
    }

    @Test func repeatedSectionsAreCombined() throws {
        let payload = try DiagnosticPayload(#"{"aDiagnostics":[{}],"aDiagnostics":{"b":1},"aDiagnostics":[{},{}]}"#)
        #expect(payload.diagnostics.count == 3)
        #expect(payload.leftovers.map(\.json.description) == [#"{"b":1}"#])
    }

    /// A diagnostic may have another number format than the next one, because the device had another language at its time.
    @Test func languageIsInferredPerDiagnostic() throws {
        let payload = try DiagnosticPayload(
            #"{"hangDiagnostics":[{"diagnosticMetaData":{"hangDuration":"20 saat"}},{"diagnosticMetaData":{"hangDuration":"5 ms"}}]}"#
        )
        #expect(payload.diagnostics.map(\.leftovers.count) == [1, 0])
    }

    @Test func parseErrorNamesByteOffset() {
        for (text, reason) in [
            (#"{"hangDiagnostics":[{"a":tru}]}"#, "at byte 28"), (#"{"hangDiagnostics":[{}"#, "at byte 22"),
            (#"{"a":1}x"#, "at byte 7"), (#"{"a" 1}"#, "at byte 5"), ("", "at byte 0"),
        ] {
            let error = #expect(throws: PayloadError.self) { try DiagnosticPayload(text) }
            #expect(
                error?.code == .notJSON && error?.reason.contains(reason) == true, "\(text): \(error?.reason ?? "")")
        }
        for text in [#"{"a":[1,2],"b":{}}"#, #"["a"]"#, "7"] {
            let error = #expect(throws: PayloadError.self) { try DiagnosticPayload(text) }
            #expect(error?.code == .notAPayload)
        }
    }

    /// Everything that is accepted is JSON, and all JSON is accepted.
    @Test func parserAcceptsExactlyValidJSON() {
        let seed: UInt64 = 3
        var generator = SeededGenerator(seed: seed)
        var taken = 0
        let rounds = testSize("METRICKIT_JSON_ROUNDS", usually: 1_500)
        for round in 0..<rounds {
            let inside = JSONTree.random(&generator, depth: 3).text(&generator)
            let more = JSONTree.random(&generator, depth: 3).text(&generator)
            var text = Array(
                #"{"timeStampEnd":"2025-10-10 00:00:00","x":\#(inside),"hangDiagnostics":[{"y":\#(more)}]}"#.utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) { JSONTree.damage(&text, &generator) }
            let document = try? JSONDocument(text)
            let isObject = document?.root.kind == .object
            do {
                _ = try DiagnosticPayload(Data(text))
                taken += 1
                if !isObject { Issue.record("seed \(seed), round \(round): \(String(decoding: text, as: UTF8.self))") }
            } catch {
                if isObject, error.code == .notJSON {
                    Issue.record("seed \(seed), round \(round): \(String(decoding: text, as: UTF8.self)): \(error)")
                }
            }
        }
        #expect(taken > rounds / 5)
    }

    @Test func binaryWithoutNameAndIdentifierIsNil() throws {
        let tree = #"{"callStacks":[{"callStackRootFrames":[{"binaryName":null},{"binaryName":null}]}]}"#
        let payload = try DiagnosticPayload(#"{"hangDiagnostics":[{"callStackTree":\#(tree)}]}"#)
        #expect(payload.diagnostics.first?.callStackTree?.stacks.first?.frames.map(\.binary) == [nil, nil])
    }

    @Test(arguments: [Metrics.ios27, #"{"appVersion":"1","timeStampEnd":"2025-10-10 00:00:00 +0000"}"#])
    func metricsAreNoDiagnostics(_ text: String) {
        let error = #expect(throws: PayloadError.self) { try DiagnosticPayload(text) }
        #expect(error?.code == .notAPayload)
    }

    @Test func membersBesideResultBecomeLeftovers() throws {
        let payload = try DiagnosticPayload(#"{"result":{"hang":{"_0":{"x":1},"_1":2},"crash":{}}}"#)
        #expect(payload.diagnostics.first?.leftovers.map(\.path) == ["hang.x", "hang._1", "crash"])
        let text = try DiagnosticPayload(#"{"result":{"hang":"20 s"}}"#)
        #expect(text.diagnostics.first?.leftovers.map(\.path) == ["hang"])
        let null = try DiagnosticPayload(#"{"result":{"hang":null}}"#)
        #expect(null.diagnostics.first?.leftovers.isEmpty == true)
    }
}
