import LoaderChainPlatformFoundation
import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct ReportTests {
    @Test func reportIsWrittenAndReadAsJSON() throws {
        let row = Report.Row(
            name: "throttle/uncontended", nsPerOp: 310.5, spread: 0.012, allocsPerOp: 2, bytesPerSecond: 1e9,
            peer: "peer/operation-queue", ratio: 0.08)
        let report = Report(host: .example, results: [row, Report.Row(name: "floor/lock", nsPerOp: 7, spread: 0)])
        let json = try report.json()
        #expect(
            String(decoding: json, as: UTF8.self) == """
                {
                  "host" : {
                    "cores" : 2,
                    "cpu" : "Abacus",
                    "date" : "2026-01-02T03:04:05Z",
                    "os" : "Wood",
                    "swift" : "6.0"
                  },
                  "results" : [
                    {
                      "allocsPerOp" : 2,
                      "bytesPerSecond" : 1000000000,
                      "name" : "throttle/uncontended",
                      "nsPerOp" : 310.5,
                      "peer" : "peer/operation-queue",
                      "ratio" : 0.08,
                      "spread" : 0.012
                    },
                    {
                      "name" : "floor/lock",
                      "nsPerOp" : 7,
                      "spread" : 0
                    }
                  ]
                }

                """)
        #expect(try Report(json: json) == report)
    }

    @Test func nullFieldsAreTreatedAsAbsent() throws {
        let json = """
            {"host": {"cpu": "", "cores": 1, "os": "", "swift": "", "date": ""},
             "results": [{"name": "a/b", "nsPerOp": 1, "spread": 0, "allocsPerOp": null, "peer": null}]}
            """
        #expect(try Report(json: Data(json.utf8)).results == [Report.Row(name: "a/b", nsPerOp: 1, spread: 0)])
    }

    @Test func throughputComesFromBytesAndTime() {
        let benchmark = Benchmark("a/b", "", bytes: 500) { { _ in } }
        let row = Report.Row(benchmark, Measurement(samples: [250], allocations: nil), peer: nil)
        #expect(row.bytesPerSecond == 2e9)
    }

    @Test func hostFilesAreReadLineByLine() {
        let cpu = "processor\t: 0\nmodel name\t: Some CPU @ 2: fast\nmodel name\t: Other\n"
        #expect(MeasuredHost.value(of: "model name", separator: ":", in: cpu) == "Some CPU @ 2: fast")
        let os = "NAME=\"Wood\"\nPRETTY_NAME=\"Wood 12 (oak)\"\n"
        #expect(MeasuredHost.value(of: "PRETTY_NAME", separator: "=", in: os) == "Wood 12 (oak)")
        #expect(MeasuredHost.value(of: "model name", separator: ":", in: "nothing") == nil)
    }
}
