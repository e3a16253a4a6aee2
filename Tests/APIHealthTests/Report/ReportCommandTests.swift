import Foundation
import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct ReportCommandTests {
    private static func lines(_ count: Int) -> String {
        var text = ""
        for index in 0..<count {
            let outcome = index % 10 == 3 ? "server-error" : "success"
            let host = index % 3 == 0 ? "pay.example" : "shop.example"
            let time = 1_700_000_000_000_000_000 + index * 500_000_000
            text +=
                "APIHealth,host=\(host),method=GET,outcome=\(outcome),path=/v1/x "
                + "duration=\(Double(index % 40) / 100 + 0.001) \(time)\n"
        }
        return text
    }

    /// The cells of all rows of a table of the page.
    private static func tables(_ html: String, class name: String) -> [[[String]]] {
        html.components(separatedBy: "<table class=\"\(name)\"").dropFirst().map { part in
            let table = part.components(separatedBy: "</table>")[0]
            return table.components(separatedBy: "<tr>").dropFirst().map { row in
                row.replacing("</th>", with: "</td>").components(separatedBy: "</td>").dropLast().map { cell in
                    cell.replacing(/<[^>]*>/, with: "")
                }
            }
        }
    }

    @Test func pageShowsRequestsOfFile() async throws {
        let folder = try TestFolder()
        try folder.write(Self.lines(240), to: "a.lp")
        let program = TestProgram()
        #expect(await program.run("report", folder.path("a.lp"), "--title", "A <b> & \"c\"") == .success)
        #expect(program.written.text.contains("a.html shows 240 requests to 2 routes, 90 % of them good."))
        let html = try folder.text("a.html")
        #expect(html.contains("<h1>A &lt;b&gt; &amp; &quot;c&quot;</h1>"))
        let figures = Self.tables(html, class: "figures")
        #expect(figures.count == 2)
        let requests = figures.map { $0.dropFirst().reduce(0) { $0 + (Int($1[1]) ?? 0) } }
        #expect(requests == [80, 160])
        let good = figures.map { $0.dropFirst().reduce(0) { $0 + (Int($1[3]) ?? 0) } }
        #expect(good == [72, 144])
        let spread = Self.tables(html, class: "spread")
        #expect(spread.map { $0.dropFirst().reduce(0) { $0 + (Int($1[1]) ?? 0) } } == [80, 160])
        // A cell of the strip for each row of the figures.
        #expect(html.components(separatedBy: "<rect class=\"cell").count - 1 == figures.reduce(0) { $0 + $1.count - 1 })
    }

    @Test func pageLoadsAndRunsNothing() async throws {
        let folder = try TestFolder()
        let evil = "<script>alert(1)</script>"
        let host = evil.replacing("=", with: "\\=")
        try folder.write(
            "APIHealth,host=\(host),outcome=success,path=\"'><img\\ src\\=x> duration=1 5\n",
            to: "a.lp")
        #expect(await TestProgram().run("report", folder.path("a.lp")) == .success)
        let html = try folder.text("a.html")
        #expect(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        for forbidden in ["<script", "<img", "http://", "https://", "url(", "@import", "<link", "javascript:"] {
            #expect(!html.contains(forbidden), "\(forbidden)")
        }
    }

    private static func line(_ route: Int, _ outcome: String, _ time: Int) -> String {
        "APIHealth,host=a,method=GET,outcome=\(outcome),path=/\(route) duration=0.1 \(time)000000000\n"
    }

    @Test func lateFailingRouteIsShown() async throws {
        let folder = try TestFolder()
        var text = (0..<300).map { Self.line($0, "success", $0) }.joined()
        for time in 300..<400 { text += Self.line(999, "server-error", time) + Self.line(998, "success", time) }
        try folder.write(text, to: "a.lp")
        let program = TestProgram()
        #expect(await program.run("report", folder.path("a.lp")) == .success)
        #expect(
            program.written.text.contains(
                "shows 500 requests to 200 routes and, counted together, to all others, 80 % of them good."))
        let rows = Self.tables(try folder.text("a.html"), class: "overview")[0].dropFirst()
        #expect(rows.count == 201)
        let shown = rows.filter { ["GET /998", "GET /999"].contains($0[1]) }.map { Array($0[1...3]) }
        #expect(shown == [["GET /998", "100", "100 %"], ["GET /999", "100", "0 %"]])
        #expect(rows.first { $0[0] == "all others" }?[2] == "102")
        #expect(program.complaints.text == "")

        // What can be read once only has the same routes.
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let bytes = Data(text.utf8)
        Thread { try? FileHandle(forWritingAtPath: pipe)?.write(contentsOf: bytes) }.start()
        #expect(await program.run("report", pipe, "--output", folder.path("p.html")) == .success)
        #expect(program.complaints.text == "")
        #expect(try folder.text("p.html") == folder.text("a.html"))
    }

    @Test func failingRouteIsShownBeyondCensusLimit() throws {
        let folder = try TestFolder()
        let text = (0..<300).map { Self.line($0, "success", $0) }.joined() + Self.line(999, "server-error", 300)
        try folder.write(text, to: "a.lp")
        let arguments = try ReportArguments(ReportArguments.syntax.parse([folder.path("a.lp")]))
        let remark =
            "apihealth: only 250 routes were counted, those that fail before all others; "
            + "the page may lack an important one\n"
        for (limit, complaint) in [(250, remark), (301, "")] {
            let program = TestProgram()
            let command = ReportCommand(
                arguments: arguments, surroundings: program.surroundings, censusLimit: limit)
            #expect(try command.run() == .success)
            let rows = Self.tables(try folder.text("a.html"), class: "overview")[0].dropFirst()
            #expect(rows.count == 201)
            #expect(rows.contains { $0[1] == "GET /999" }, "\(limit)")
            #expect(program.complaints.text == complaint)
        }
    }

    @Test func badLinesAreCountedAndReported() async throws {
        let folder = try TestFolder()
        try folder.write(
            "nonsense\n" + Self.lines(10) + "cpu load=1 1\nAPIHealth,outcome=? duration=1 1\nhalf a li",
            to: "a.lp")
        let program = TestProgram()
        #expect(
            await program.run("report", folder.path("a.lp"), "--output", folder.path("p.html"), "--json") == .success)
        let result = try #require(
            try JSONSerialization.jsonObject(with: Data(program.written.text.utf8)) as? [String: Any])
        #expect(result["requests"] as? Int == 10)
        #expect(result["badLines"] as? Int == 2)
        #expect(result["otherPoints"] as? Int == 2)
        #expect((result["firstProblems"] as? [String])?.first?.contains("a.lp: line 1, column") == true)
        #expect(try folder.text("p.html").contains("Skipped, because they cannot be read: 2 lines. The first:"))
    }

    @Test func fileWithoutRequestsMakesNoPage() async throws {
        let folder = try TestFolder()
        try folder.write("cpu load=1 1\n", to: "a.lp")
        let program = TestProgram()
        #expect(await program.run("report", folder.path("a.lp")) == .unhealthy)
        #expect(program.complaints.text.contains("there is no request in"))
        #expect(program.complaints.text.contains("unreadable are 0 lines, about something else 1 point"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("a.html")))
    }

    @Test func missingFileIsReported() async throws {
        let folder = try TestFolder()
        let program = TestProgram()
        #expect(await program.run("report", folder.path("none.lp")) == .failure)
        #expect(program.complaints.text.contains("none.lp cannot be read: no such file or directory; check the path\n"))
        #expect(await program.run("report", folder.path("")) == .failure)
        try folder.write(Self.lines(2), to: "a.lp")
        #expect(await program.run("report", folder.path("a.lp"), "--output", folder.path("no/such/p.html")) == .failure)
        #expect(await program.run("report", folder.path("a.lp"), "--output", folder.path("a.lp")) == .usage)
        #expect(try folder.text("a.lp") == Self.lines(2))
    }
}
