/// A histogram and its averages as lines of text.
struct HistogramChart<Bound: HistogramBound> {
    let title: String
    let histogram: Histogram<Bound>
    /// Formats a value with its unit.
    let text: (Bound) -> String

    private static var width: Int { 40 }
    private static var mostLines: Int { 40 }

    var lines: [String] {
        var lines = ["\(title): \(ReadableNumber.text(count: histogram.count, "value", "values"))"]
        guard let end = histogram.mean(by: .end), let middle = histogram.mean(by: .midpoint),
            let robust = histogram.trimmedMean(by: .midpoint), let median = histogram.median,
            let ninety = histogram.quantile(0.9)
        else { return lines }
        lines.append(
            "  mean \(text(end)) by bucket ends, \(text(middle)) by midpoints, \(text(robust)) of the middle half")
        lines.append("  median \(text(median)), p90 \(text(ninety))")
        return lines + bars
    }

    /// A line for each bucket, with a bar scaled to the largest.
    private var bars: [String] {
        let most = histogram.buckets.map(\.count).max() ?? 1
        let shown = histogram.buckets.prefix(Self.mostLines)
        let names = shown.map { "\(text($0.start)) to \(text($0.end))" }
        let counts = shown.map { "\($0.count)" }
        let (nameWidth, countWidth) = (names.map(\.count).max() ?? 0, counts.map(\.count).max() ?? 0)
        var lines: [String] = []
        for (index, bucket) in shown.enumerated() {
            let length = max(1, Int((Double(bucket.count) / Double(most) * Double(Self.width)).rounded()))
            let name = names[index] + String(repeating: " ", count: nameWidth - names[index].count)
            let count = String(repeating: " ", count: countWidth - counts[index].count) + counts[index]
            lines.append("  \(name)  \(count)  \(String(repeating: "█", count: length))")
        }
        let rest = histogram.buckets.count - shown.count
        if rest > 0 { lines.append("  and \(ReadableNumber.text(count: rest, "bucket", "buckets")) more") }
        return lines
    }
}
