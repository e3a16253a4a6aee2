import LoaderChain

/// A small histogram of durations with round bounds.
struct LatencyBars: Sendable, Hashable {
    /// The bounds between the bars, in milliseconds.
    static let bounds: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]

    /// The counts below the first bound, between each two, and from the last one on.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)

    init() {}

    /// Counts a duration; one that equals a bound belongs to the bar above it.
    mutating func record(_ duration: Duration) {
        let milliseconds = duration / .milliseconds(1)
        counts[Self.bounds.firstIndex { milliseconds < $0 } ?? Self.bounds.count] += 1
    }

    /// The bars as block characters, scaled to the highest; a count above zero is always visible.
    var text: String { Blocks.text(counts.map(Double.init)) }

    /// The heading above ``text``, which marks one millisecond and five seconds.
    static let title = " 1ms      5s+"
}

/// Draws with block characters.
enum Blocks {
    private static let heights: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// A column for each value, scaled to the largest; a space for zero.
    static func text(_ values: [Double]) -> String {
        let largest = values.reduce(0, max)
        return String(values.map { largest > 0 ? block($0 / largest) : " " })
    }

    private static func block(_ part: Double) -> Character {
        guard part > 0 else { return " " }
        return heights[min(heights.count - 1, Int(part * Double(heights.count)))]
    }

    /// A progress bar.
    static func progress(_ part: Double, width: Int) -> (done: String, rest: String) {
        let count = Int((min(max(part.isNaN ? 0 : part, 0), 1) * Double(width)).rounded())
        return (String(repeating: "━", count: count), String(repeating: "─", count: width - count))
    }
}
