// Report: the command `report`. Depends on the folders below the commands; only Program uses it.

import LoaderChain

/// Availability over time: one cell per slot.
struct AvailabilityStrip {
    let tallies: [Int64: ReportModel.Tally]
    let slots: ClosedRange<Int64>
    let clock: ReportClock

    private static let left = 64.0
    private static let height = 26.0

    /// The CSS class of a cell.
    static func grade(good: Int, of judged: Int) -> String {
        if judged == 0 { return "none" }
        if good == judged { return "good" }
        return Double(good) >= 0.9 * Double(judged) ? "fair" : good == 0 ? "down" : "poor"
    }

    var svg: String {
        let count = Double(slots.upperBound - slots.lowerBound + 1)
        let width = (LatencyChart.width - Self.left) / count
        var parts = [
            "<svg class=\"strip\" viewBox=\"0 0 \(Int(LatencyChart.width)) \(Int(Self.height))\" role=\"img\" "
                + "aria-label=\"Availability over time\">",
            "<text class=\"label end\" x=\"\(Int(Self.left) - 8)\" y=\"17\">ok</text>",
        ]
        for slot in tallies.keys.sorted() {
            guard let tally = tallies[slot] else { continue }
            let x = Self.left + Double(slot - slots.lowerBound) * width
            let share = NumberText.percent(tally.good, of: tally.judged)
            parts.append(
                "<rect class=\"cell \(Self.grade(good: tally.good, of: tally.judged))\" x=\"\(HTMLText.place(x))\" y=\"2\" "
                    + "width=\"\(HTMLText.place(max(1, width - min(1, width / 5))))\" height=\"22\" data-slot=\"\(slot)\">"
                    + "<title>\(HTMLText.escape(clock.text(slot))): \(share) of \(tally.judged) good</title></rect>")
        }
        return (parts + ["</svg>"]).joined(separator: "\n")
    }
}
