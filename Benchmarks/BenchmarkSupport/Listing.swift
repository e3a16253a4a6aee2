/// Describes what each benchmark does.
enum Listing {
    private static let width = 100

    static func lines(_ benchmarks: [Benchmark], styled: Bool) -> [String] {
        let column = (benchmarks.map(\.name.count).max() ?? 0) + 2 + 3
        let indent = String(repeating: " ", count: column)
        return benchmarks.flatMap { benchmark in
            var text = wrapped(benchmark.workload, width: width - column)
            let notes = [benchmark.peer.map { "peer: \($0)" }, limit(benchmark)].compactMap(\.self)
            if !notes.isEmpty { text.append(Style.faint.apply(to: notes.joined(separator: "; "), styled)) }
            let name = "  " + Style.heading.apply(to: benchmark.name, styled)
            let pad = String(repeating: " ", count: column - 2 - benchmark.name.count)
            return text.enumerated().map { index, line in index == 0 ? name + pad + line : indent + line }
        }
    }

    private static func limit(_ benchmark: Benchmark) -> String? {
        benchmark.limit.text.isEmpty ? nil : "limit: " + benchmark.limit.text
    }

    /// Breaks text between words into lines of at most `width` characters; a longer word gets a line of its own.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines.removeLast()
            if line.isEmpty {
                lines.append(String(word))
            } else if line.count + 1 + word.count <= width {
                lines.append(line + " " + word)
            } else {
                lines += [line, String(word)]
            }
        }
        return lines
    }
}
