/// One run over the selected benchmarks.
struct Session {
    /// A benchmark and what was found about it.
    struct Row {
        let benchmark: Benchmark
        var row: Report.Row
    }

    /// So often a benchmark that looks slower is measured again before it is believed.
    static let repeats = 3

    let suite: Suite
    let runner: Runner
    let showProgress: (String) -> Void

    func measure(_ selected: [Benchmark]) -> [Row] {
        // Until a process starts its second thread, the C library spares it the atomic half of locks and allocations.
        // Every row is to be charged alike, wherever it stands, and as in a real program.
        onThreads(1, total: 0) { _ in }
        return selected.enumerated().map { index, benchmark in
            Row(benchmark: benchmark, row: measure(benchmark, title: "\(index + 1)/\(selected.count)"))
        }
    }

    /// Measures again what looks slower than in an earlier run, keeps the faster result, and returns the names.
    ///
    /// The spread within a run does not know of a neighbour who keeps the machine busy for a second. Such a burst does
    /// not come back each time, whereas what has really become slower stays so.
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
