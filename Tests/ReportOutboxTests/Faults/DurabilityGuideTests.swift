import Foundation
import Testing

/// The durability guide names a test for each row of its table.
@Suite(.timeLimit(.minutes(10))) struct DurabilityGuideTests {
    @Test func everyTestNamedInTheGuideExists() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let guide = tests.deletingLastPathComponent().appending(path: "Documentation/Durability.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        let section = try #require(text.range(of: "## The tests that show it"))
        let rows = text[section.upperBound...].split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        var sources = ""
        for target in ["ReportOutboxTests", "InfluxReportingTests"] {
            let folder = tests.appending(path: target)
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
            for file in files where file.hasSuffix("Tests.swift") {
                sources += try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            }
        }
        #expect(rows.count == 10)
        for row in rows {
            let names = row.split(separator: "`").filter { $0.first?.isLowercase == true && !$0.contains(" ") }
            #expect(!names.isEmpty, "\(row)")
            for name in names { #expect(sources.contains("func \(name)("), "\(name)") }
        }
    }
}
