/// One run over the selected benchmarks.
struct Session {
    struct Row {
        let benchmark: Benchmark
        var row: Report.Row
    }

    /// How often a benchmark that looks slower is measured again before it is reported.
    static let repeats = 3

    let suite: Suite
    let runner: Runner
    let showProgress: (String) -> Void

    func measure(_ selected: [Benchmark]) -> [Row] {
        // Until a process starts its second thread, the C library skips the atomic operations of locks and allocations. All
        // rows should be measured under the same conditions, which are those of a real program.
        onThreads(1, total: 0) { _ in }
        return selected.enumerated().map { index, benchmark in
            Row(benchmark: benchmark, row: measure(benchmark, title: "\(index + 1)/\(selected.count)"))
        }
    }

    /// Measures rows again that look slower than in an earlier run, keeps the faster result, and returns their names.
    ///
    /// The spread within a run does not include other load that keeps the machine busy for a second. Such a burst does not
    /// come back each time, but a real slowdown does.
    func repeatSlower(_ rows: inout [Row], than earlier: Report) -> [String] {
        var names: [String] = []
        for index in rows.indices {
            let benchmark = rows[index].benchmark
            let before = earlier.results.first { $0.name == benchmark.name }
            for attempt in 1...Self.repeats {
                guard Comparison.Line(before: before, after: rows[index].row).verdict == .slower else { break }
                if attempt == 1 { names.append(benchmark.name) }
                let again = measure(benchmark, title: "again \(attempt)/\(Self.repeats)")
                if again.nsPerOp < rows[index].row.nsPerOp { rows[index].row = again }
            }
        }
        return names
    }

    private func measure(_ benchmark: Benchmark, title: String) -> Report.Row {
        let peer = benchmark.peer.flatMap(suite.benchmark(named:))
        let found = runner.measure(benchmark, against: peer) { samples in
            showProgress("\(title)  \(benchmark.name)  \(samples)/\(runner.plan.samples)")
        }
        return Report.Row(benchmark, found.ours, peer: found.peer)
    }
}
