import LoaderChain

/// How durations are spread over a few bars, whose bounds people know by heart.
struct LatencyBars: Sendable, Hashable {
    /// The bounds between the bars in milliseconds: 1, 2, 5 and so on.
    static let bounds: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]

    /// How many durations lie below the first bound, between two, and from the last one on.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)

    init() {}

    /// Counts a duration, which belongs to the bar above the bounds that it reaches.
    mutating func record(_ duration: Duration) {
        let milliseconds = duration / .milliseconds(1)
        counts[Self.bounds.firstIndex { milliseconds < $0 } ?? Self.bounds.count] += 1
    }

    /// The bars as blocks of text; the highest is the full height, and one that counts anything can be seen.
    var text: String { Blocks.text(counts.map(Double.init)) }

    /// What stands above ``text``: where a millisecond is, and where five seconds and more are.
    static let title = " 1ms      5s+"
}

/// Small pictures out of block characters.
enum Blocks {
    private static let heights: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// A column for each value, the largest at full height; a space for none.
    static func text(_ values: [Double]) -> String {
        let largest = values.reduce(0, max)
        return String(values.map { largest > 0 ? block($0 / largest) : " " })
    }

    private static func block(_ part: Double) -> Character {
        guard part > 0 else { return " " }
        return heights[min(heights.count - 1, Int(part * Double(heights.count)))]
    }

    /// A bar of a width, of which a part is done.
    static func progress(_ part: Double, width: Int) -> (done: String, rest: String) {
        let count = Int((min(max(part.isNaN ? 0 : part, 0), 1) * Double(width)).rounded())
        return (String(repeating: "━", count: count), String(repeating: "─", count: width - count))
    }
}
