import LoaderChain

/// The distribution of durations as a bar chart.
struct HistogramChart {
    private let counts: [Int]
    private static let height = 150.0
    private static let top = 16.0
    private static let bottom = 126.0
    private static let width = 320.0

    init(_ bars: LatencyBars) { counts = bars.counts }

    /// The range of a bar, in words.
    static func label(_ index: Int) -> String {
        let bounds = LatencyBars.bounds.map { DurationText.setting(.milliseconds(1) * $0) }
        if index == 0 { return "under \(bounds[0])" }
        return index == bounds.count ? "\(bounds[index - 1]) or more" : "\(bounds[index - 1]) to \(bounds[index])"
    }

    var svg: String {
        let largest = Double(max(1, counts.max() ?? 1))
        let width = Self.width / Double(counts.count)
        var parts = [
            "<svg class=\"histogram\" viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" "
                + "aria-label=\"How the latencies are spread\">",
            "<line class=\"grid\" x1=\"0\" x2=\"\(Int(Self.width))\" y1=\"\(Int(Self.bottom))\" y2=\"\(Int(Self.bottom))\"/>",
        ]
        for (index, count) in counts.enumerated() {
            let height = Double(count) / largest * (Self.bottom - Self.top)
            let x = Double(index) * width
            parts.append(
                "<rect class=\"bar\" x=\"\(HTMLText.place(x + 1))\" y=\"\(HTMLText.place(Self.bottom - height))\" "
                    + "width=\"\(HTMLText.place(width - 2))\" height=\"\(HTMLText.place(height))\" data-bar=\"\(index)\">"
                    + "<title>\(Self.label(index)): \(NumberText.count(count))</title></rect>")
            if count > 0 {
                parts.append(
                    "<text class=\"count middle\" x=\"\(HTMLText.place(x + width / 2))\" "
                        + "y=\"\(HTMLText.place(Self.bottom - height - 4))\">\(Self.brief(count))</text>")
            }
        }
        for (bound, text) in [(1, "1 ms"), (4, "10 ms"), (7, "100 ms"), (10, "1 s")] {
            let x = Double(bound) * width
            parts.append(
                "<text class=\"label middle\" x=\"\(HTMLText.place(x))\" y=\"\(Int(Self.height) - 6)\">\(text)</text>")
        }
        return (parts + ["</svg>"]).joined(separator: "\n")
    }

    /// The count in at most four characters, so that it fits above a bar.
    private static func brief(_ count: Int) -> String {
        switch count {
        case ..<1_000: "\(count)"
        case ..<10_000: "\(NumberText.text(Double(count) / 1_000, digits: 1))k"
        case ..<1_000_000: "\(count / 1_000)k"
        default: "\(count / 1_000_000)M"
        }
    }
}
