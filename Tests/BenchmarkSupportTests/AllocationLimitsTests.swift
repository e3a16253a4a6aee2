import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct AllocationLimitsTests {
    @Test func commentsAndBlankLinesAreIgnored() throws {
        let limits = try AllocationLimits(parsing: "# all\n\nfloor/lock 0\r\n  chain/hop\t0.5 # half\na/b varies\n")
        #expect(limits.limits.map(\.name) == ["floor/lock", "chain/hop", "a/b"])
        #expect(limits.limits.map(\.most) == [0, 0.5, nil])
    }

    @Test(arguments: [
        "floor/lock", "floor/lock many", "floor/lock 1 2", "floor/lock -1", "floor/lock nan", "a inf", "a varies 1",
    ])
    func mistakeHasItsLineNumber(line: String) {
        let mistake = #expect(throws: AllocationLimits.Mistake.self) {
            try AllocationLimits(parsing: "# one\na/b 1\n\(line)\n")
        }
        #expect(mistake?.line == 3)
    }

    @Test func duplicateLimitIsRejected() {
        #expect(throws: AllocationLimits.Mistake(line: 2, text: "a/b has a limit already")) {
            try AllocationLimits(parsing: "a/b 1\na/b 2")
        }
    }

    @Test func checkReportsExcessAndUnknownBenchmarks() throws {
        let limits = try AllocationLimits(parsing: "a/fits 2\na/exceeds 2\na/other 0\na/gone 1")
        let rows = [
            Report.Row(name: "a/fits", nsPerOp: 1, spread: 0, allocsPerOp: 2),
            Report.Row(name: "a/exceeds", nsPerOp: 1, spread: 0, allocsPerOp: 2.001),
        ]
        let (checked, failures) = limits.check(rows, among: ["a/fits", "a/exceeds", "a/other"])
        #expect(checked == 2)
        #expect(
            failures == [
                "a/exceeds makes 2.001 allocations, 2 are allowed.",
                "a/gone has a limit, but there is no such benchmark.",
            ])
    }

    @Test func benchmarkWithoutLimitFailsCheck() throws {
        let limits = try AllocationLimits(parsing: "a/varying varies")
        let rows = [
            Report.Row(name: "a/varying", nsPerOp: 1, spread: 0, allocsPerOp: 9_000),
            Report.Row(name: "a/new", nsPerOp: 1, spread: 0, allocsPerOp: 3),
            Report.Row(name: "peer/other", nsPerOp: 1, spread: 0, allocsPerOp: 30),
        ]
        let (checked, failures) = limits.check(rows, among: ["a/varying", "a/new"])
        #expect(checked == 0)
        #expect(failures == ["a/new makes 3 allocations and has no limit; write one, or a/new varies."])
    }
}
