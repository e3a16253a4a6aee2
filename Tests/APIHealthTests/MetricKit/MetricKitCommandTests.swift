import Foundation
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct MetricKitCommandTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A payload in which the first draw took so many milliseconds on average, by the ends of its buckets.
    private static func payload(version: String, end: Int) -> String {
        """
        {"appVersion":"\(version)","timeStampBegin":"2025-10-10 00:00:00","timeStampEnd":"2025-10-11 00:00:00",
        "applicationLaunchMetrics":{"histogrammedTimeToFirstDrawKey":{"histogramNumBuckets":1,"histogramValue":
        {"0":{"bucketCount":5,"bucketStart":"\(end - 10) ms","bucketEnd":"\(end) ms"}}}}}
        """
    }

    @Test func commandPrintsEachPayloadAndAllTogether() async throws {
        try folder.write(Self.payload(version: "1.2", end: 1_010), to: "a.json")
        try folder.write(Self.payload(version: "1.2", end: 2_010), to: "b.json")
        let program = TestProgram()
        #expect(await program.run("metrickit", folder.path("a.json"), folder.path("b.json")) == .success)
        let text = program.written.text
        #expect(text.hasPrefix("\(folder.path("a.json"))\n"))
        #expect(text.contains("\n\(folder.path("b.json"))\n"))
        let together = try #require(text.components(separatedBy: "\nAll payloads together\n").last)
        #expect(together.hasPrefix("Version 1.2, 2 payloads\n"))
        #expect(together.contains("Time to first draw"))

        let short = TestProgram()
        #expect(await short.run("metrickit", "--together", folder.path("a.json"), folder.path("b.json")) == .success)
        #expect(short.written.text == "All payloads together\n" + together)
    }

    @Test func singlePayloadIsPrintedWithoutHeadings() async throws {
        try folder.write(Self.payload(version: "1.2", end: 1_010), to: "a.json")
        let program = TestProgram()
        #expect(await program.run("metrickit", folder.path("a.json")) == .success)
        #expect(program.written.text.contains("Time to first draw"))
        #expect(!program.written.text.contains("together"))
        #expect(!program.written.text.contains(folder.path("a.json")))
    }

    @Test func invalidPayloadIsReportedAndOthersAreRead() async throws {
        try folder.write("no \u{1B}[31mpayload", to: "bad.json")
        try folder.write(Self.payload(version: "1.2", end: 1_010), to: "good.json")
        let program = TestProgram()
        #expect(await program.run("metrickit", folder.path("bad.json"), folder.path("good.json")) == .failure)
        #expect(program.written.text.contains("Time to first draw"))
        #expect(program.complaints.text.hasPrefix("apihealth: \(folder.path("bad.json")): "))
        #expect(!program.complaints.text.contains("\u{1B}"))
        let missing = TestProgram()
        #expect(await missing.run("metrickit", folder.path("none.json")) == .failure)
        #expect(
            missing.complaints.text.hasSuffix("none.json cannot be read; give a file with a payload of MetricKit\n"))
    }

    @Test func missingFileDoesNotStopOthers() async throws {
        try folder.write(Self.payload(version: "1.2", end: 1_010), to: "a.json")
        try folder.write(Self.payload(version: "1.2", end: 2_010), to: "b.json")
        let program = TestProgram()
        let files = ["a", "none", "b"].map { folder.path("\($0).json") }
        #expect(await program.run("metrickit", files[0], files[1], files[2]) == .failure)
        #expect(program.written.text.contains("Version 1.2, 2 payloads"))
        #expect(program.complaints.text.contains("none.json"))
    }

    @Test func payloadWithoutVersionIsCounted() async throws {
        try folder.write(#"{"timeStampEnd":"2025-10-10 00:00:00 +0000","metaData":{}}"#, to: "a.json")
        let program = TestProgram()
        #expect(await program.run("metrickit", "--together", folder.path("a.json")) == .success)
        #expect(program.written.text.contains("Left out, because they name no version: 1 payload"))
    }
}
