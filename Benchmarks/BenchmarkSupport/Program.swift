#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The program around the benchmarks: reads the command line, measures, prints, and ends with a status.
///
/// Status 0 is success, 1 a comparison or a check that failed, 2 a command line or a file that cannot be used.
package struct Program {
    /// A reason to end before anything is measured.
    private struct Refusal: Error {
        let text: String
    }

    static let limitsPath = "Benchmarks/allocation-limits.txt"

    let suite: Suite
    let meter: AllocationMeter?
    let console: Console
    let host: Host
    let now: () -> Double
    let readFile: (String) throws -> Data
    let writeFile: (String, Data) throws -> Void

    /// Makes the program of a suite.
    ///
    /// Without a meter, allocations are reported as not available.
    package init(_ suite: Suite, meter: AllocationMeter?) {
        self.init(
            suite: suite, meter: meter, console: .standard(), host: .current(), now: WorkClock.now,
            readFile: { try Data(contentsOf: URL(filePath: $0)) },
            writeFile: { try $1.write(to: URL(filePath: $0)) })
    }

    init(
        suite: Suite, meter: AllocationMeter?, console: Console, host: Host, now: @escaping () -> Double,
        readFile: @escaping (String) throws -> Data, writeFile: @escaping (String, Data) throws -> Void
    ) {
        self.suite = suite
        self.meter = meter
        self.console = console
        self.host = host
        self.now = now
        self.readFile = readFile
        self.writeFile = writeFile
    }

    /// Does what the arguments ask for and returns the status to exit with.
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
        // Files are read first: a run of a minute should not end with a mistyped path.
        let earlier = try options.comparePath.map(readReport)
        let limits = options.checksAllocations ? try readLimits() : nil

        let session = Session(
            suite: suite, runner: Runner(plan: options.plan, meter: meter, now: now), showProgress: console.showProgress
        )
        var rows = session.measure(selected)
        let repeated = earlier.map { session.repeatSlower(&rows, than: $0) } ?? []
        console.showProgress("")
        let report = Report(host: host, results: rows.map(\.row))
        printResults(rows, plan: options.plan)

        var status: Int32 = 0
        if let earlier {
            let comparison = Comparison(before: earlier, after: report)
            print(comparison, earlier: earlier.host, repeated: repeated, isWhole: options.filters.isEmpty)
            if !comparison.slower.isEmpty { status = 1 }
        }
        if let limits, !check(report, limits) { status = 1 }
        if let path = options.jsonPath { try write(report, to: path) }
        return status
    }

    private func readReport(_ path: String) throws(Refusal) -> Report {
        guard let data = try? readFile(path) else { throw Refusal(text: "\(path) cannot be read.") }
        guard let report = try? Report(json: data) else {
            throw Refusal(text: "\(path) holds no results; --json writes such a file.")
        }
        return report
    }

    private func readLimits() throws(Refusal) -> AllocationLimits {
        guard meter != nil else {
            throw Refusal(
                text: "Allocations cannot be counted in this build; check them on Linux, without a sanitizer.")
        }
        guard let data = try? readFile(Self.limitsPath) else {
            throw Refusal(text: "\(Self.limitsPath) cannot be read; run this from the root of the repository.")
        }
        do throws(AllocationLimits.Mistake) {
            return try AllocationLimits(parsing: String(decoding: data, as: UTF8.self))
        } catch {
            throw Refusal(text: "\(Self.limitsPath):\(error.line): \(error.text).")
        }
    }

    private func printResults(_ rows: [Session.Row], plan: Plan) {
        let milliseconds = Numbers.short(plan.sampleLength.nanoseconds / 1e6)
        console.print("\(host.cpu), \(host.cores) cores, \(host.os), Swift \(host.swift)")
        console.print("Medians of \(plan.samples) samples of \(milliseconds) ms; half of them lie within the spread.\n")
        ResultTable.lines(rows, styled: console.isStyled).forEach(console.print)

        let verdicts = rows.compactMap { row in row.benchmark.limit.verdict(on: row.row).map { (row.row.name, $0) } }
        let missed = verdicts.filter { $0.1 == .missed }.map(\.0)
        if verdicts.isEmpty { return }
        console.print(
            missed.isEmpty
                ? "\nAll limits are met (\(verdicts.count))."
                : "\n\(missed.count) of \(verdicts.count) limits missed: \(missed.joined(separator: ", ")).")
    }

    private func print(_ comparison: Comparison, earlier: Host, repeated: [String], isWhole: Bool) {
        console.print("\nCompared with \(earlier.date), in ns/op:\n")
        ComparisonTable.lines(comparison, styled: console.isStyled).forEach(console.print)
        console.print("")
        if earlier.cpu != host.cpu || earlier.cores != host.cores {
            console.print("The earlier run is another machine's: \(earlier.cpu), \(earlier.cores) cores.")
        }
        if isWhole, !comparison.missing.isEmpty {
            console.print("Gone since then: \(comparison.missing.joined(separator: ", ")).")
        }
        if !repeated.isEmpty {
            console.print("Looked slower and measured again: \(repeated.joined(separator: ", ")).")
        }
        let slower = comparison.slower.map(\.after.name)
        console.print(slower.isEmpty ? "Nothing is slower." : "Slower: \(slower.joined(separator: ", ")).")
    }

    private func check(_ report: Report, _ limits: AllocationLimits) -> Bool {
        let (checked, failures) = limits.check(report.results, among: suite.benchmarks.map(\.name))
        console.print("")
        failures.forEach(console.complain)
        if failures.isEmpty { console.print("Allocations: \(checked) limits checked, all hold.") }
        return failures.isEmpty
    }

    private func write(_ report: Report, to path: String) throws {
        do {
            try writeFile(path, report.json())
        } catch {
            throw Refusal(text: "\(path) cannot be written.")
        }
    }
}
