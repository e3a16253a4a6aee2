import Foundation
import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct MetricFileTests {
    private static let metric = HTTPMetric(
        start: Date(timeIntervalSince1970: 1_700_000_000), duration: .milliseconds(250), host: "a", route: "/x",
        status: 200, outcome: .response(200))

    @Test func everyRecordAppendsOneLine() throws {
        let folder = try TestFolder()
        let file = try MetricFile(path: folder.path("a.lp"))
        file.record(.request(Self.metric))
        let again = try MetricFile(path: folder.path("a.lp"))
        again.record(.request(Self.metric))
        again.record(.event(MetricEvent(name: "no request", date: .now)))
        let lines = try folder.text("a.lp").split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count == 4)
        #expect(lines[0] == lines[1] && lines[0].hasPrefix("APIHealth,host=a,") && lines[3] == "")
        #expect(lines[2].hasPrefix("AppEvent,name=no\\ request count=1i "))
        #expect((file.points, again.points, again.losses) == (1, 2, 0))
    }

    @Test func linesOfManyThreadsDoNotMix() async throws {
        let folder = try TestFolder()
        let file = try MetricFile(path: folder.path("a.lp"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<100 { file.record(.request(Self.metric)) } }
            }
        }
        #expect(file.points == 800)
        var model = ReportModel()
        try ReportReader.read(folder.path("a.lp"), precision: .nanoseconds, into: &model)
        #expect((model.total.count, model.badLines) == (800, 0))
        // No two of the same moment are the same point to a database.
        #expect(Set(try folder.text("a.lp").split(separator: "\n")).count == 800)
    }

    @Test func tornLineIsEndedBeforeNextLine() throws {
        let folder = try TestFolder()
        try folder.write("torn", to: "a.lp")
        try MetricFile(path: folder.path("a.lp")).record(.request(Self.metric))
        let lines = try folder.text("a.lp").split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == "torn")
    }

    @Test func fileThatCannotBeOpenedIsReported() throws {
        let folder = try TestFolder()
        let error = #expect(throws: ProgramError.self) { try MetricFile(path: folder.path("no/such.lp")) }
        #expect(error?.status == .failure)
        #expect(
            error?.message.hasSuffix("cannot be opened for writing: no such file or directory; choose another file")
                == true)
        #expect(throws: ProgramError.self) { try MetricFile(path: "") }
        #expect(throws: ProgramError.self) { try MetricFile(path: "a\0b") }
    }

    #if os(Linux)
        @Test func pointOnFullDiskIsCountedAsLost() throws {
            let file = try MetricFile(path: "/dev/full")
            file.record(.request(Self.metric))
            #expect((file.points, file.losses) == (0, 1))
        }
    #endif
}
