/// The benchmarks of a program, in the order of the table.
package final class Suite {
    package private(set) var benchmarks: [Benchmark] = []
    private(set) var figures: [Figure] = []

    package init() {}

    /// Adds a benchmark that is timed by itself; see ``Benchmark`` for the arguments.
    package func add(
        _ name: String, _ workload: String, peer: String? = nil, limit: Duration? = nil, allocations: Double? = nil,
        ratio: Double? = nil, bytes: Int? = nil, setup: @escaping Benchmark.Setup
    ) {
        add(
            Benchmark(
                name, workload, peer: peer, limit: limit, allocations: allocations, ratio: ratio, bytes: bytes,
                setup: setup))
    }

    /// Adds a benchmark that was created elsewhere, such as a slope.
    package func add(_ benchmark: Benchmark) {
        benchmarks.append(benchmark)
    }

    package func add(_ topic: [Benchmark]) {
        benchmarks += topic
    }

    package func add(_ figure: Figure) {
        figures.append(figure)
    }

    func benchmark(named name: String) -> Benchmark? {
        benchmarks.first { $0.name == name }
    }

    /// Selects the benchmarks whose name contains any of `filters`, or all of them if there are none.
    func benchmarks(matching filters: [String]) -> [Benchmark] {
        guard !filters.isEmpty else { return benchmarks }
        return benchmarks.filter { benchmark in filters.contains { benchmark.name.contains($0) } }
    }

    /// The mistakes in the registration, one sentence each.
    var mistakes: [String] {
        var names: Set<String> = []
        var mistakes: [String] = []
        for benchmark in benchmarks {
            if !names.insert(benchmark.name).inserted {
                mistakes.append("Two benchmarks are called \(benchmark.name).")
            }
            if let peer = benchmark.peer, self.benchmark(named: peer) == nil {
                mistakes.append("\(benchmark.name) names the peer \(peer), which does not exist.")
            }
        }
        for figure in figures {
            for name in figure.benchmarks where !names.contains(name) {
                mistakes.append("The picture \(figure.file) shows \(name), which does not exist.")
            }
        }
        return mistakes
    }
}
