import LoaderChainPlatformFoundation

/// The benchmark program: parses the command line, measures, prints, and returns an exit status.
///
/// Status 0 is success, 1 a failed comparison or check, 2 an invalid command line or file.
package struct Program {
    /// A reason to end before anything is measured.
    struct Refusal: Error {
        let text: String
    }

    let suite: Suite
    let meter: AllocationMeter?
    let console: Console
    let host: MeasuredHost
    let now: () -> Double
    let readFile: (String) throws -> Data
    let writeFile: (String, Data) throws -> Void
    /// The sizes of the fleets.
    var fleets = [1_000, 10_000, 100_000, 1_000_000]
    var quickFleets = [1_000, 10_000]
}

extension Program {
    /// Makes a program for a suite; without a meter, allocations are reported as not available.
    package init(_ suite: Suite, meter: AllocationMeter?) {
        self.init(
            suite: suite, meter: meter, console: .standard(), host: .current(), now: WorkClock.now,
            readFile: { try Data(contentsOf: URL(filePath: $0)) },
            writeFile: { try Self.write($1, to: URL(filePath: $0)) })
    }

    package func run(_ arguments: [String]) -> Int32 {
        do {
            return try run(Options(parsing: arguments))
        } catch let mistake as Options.Mistake {
            console.complain(mistake.text)
        } catch let refusal as Refusal {
            console.complain(refusal.text)
        } catch {
            console.complain("\(error)")
        }
        return 2
    }

    private func run(_ options: Options) throws -> Int32 {
        if options.showsHelp {
            console.print(Options.help)
            return 0
        }
        if options.isFleet { return try runFleet(options) }
        if options.isLimits { return try runLimits(options) }
        guard suite.mistakes.isEmpty else { throw Refusal(text: suite.mistakes.joined(separator: "\n")) }
        let selected = suite.benchmarks(matching: options.filters)
        guard !selected.isEmpty else {
            let texts = options.filters.joined(separator: " or ")
            throw Refusal(text: "No benchmark's name contains \(texts). --list shows the names.")
        }
        if options.showsList {
            Listing.lines(selected, styled: console.isStyled).forEach(console.print)
            return 0
        }
        return try runBenchmarks(selected, options)
    }

    private func runBenchmarks(_ selected: [Benchmark], _ options: Options) throws -> Int32 {
        // Files are read first, so that a mistyped path is reported before a run of a minute.
        let earlier = try options.comparePath.map(readReport)
        let limits = options.checksAllocations ? try readLimits() : nil
        try options.markdownPath.map(checkDocument)
        let given = try options.fromPath.map(readReport)

        let (rows, repeated) = given.map { (found(selected, in: $0), []) } ?? measure(selected, options, earlier)
        let report = Report(host: given?.host ?? host, results: rows.map(\.row))
        printResults(rows, on: report.host, plan: given == nil ? options.plan : nil)

        var status: Int32 = 0
        if let earlier {
            let comparison = Comparison(before: earlier, after: report)
            print(comparison, from: earlier.host, to: report.host, repeated, isWhole: options.filters.isEmpty)
            if !comparison.slower.isEmpty { status = 1 }
        }
        if let limits, !check(report, limits) { status = 1 }
        if let path = options.jsonPath { try write(report.json(), to: path) }
        if let path = options.plotPath { try draw(report, in: path) }
        if let path = options.markdownPath {
            try refreshDocument(path, MarkdownTables(host: report.host, rows: rows).lines)
        }
        return status
    }

    private func measure(
        _ selected: [Benchmark], _ options: Options, _ earlier: Report?
    ) -> (rows: [Session.Row], repeated: [String]) {
        let session = Session(
            suite: suite, runner: Runner(plan: options.plan, meter: meter, now: now), showProgress: console.showProgress
        )
        var rows = session.measure(selected)
        let repeated = earlier.map { session.repeatSlower(&rows, than: $0) } ?? []
        console.showProgress("")
        return (rows, repeated)
    }

    /// The results of the selected benchmarks in a file.
    private func found(_ selected: [Benchmark], in report: Report) -> [Session.Row] {
        selected.compactMap { benchmark in
            report.results.first { $0.name == benchmark.name }.map { Session.Row(benchmark: benchmark, row: $0) }
        }
    }
}
