// Report: the command `report`. Depends on the folders below the commands; only Program uses it.

import Foundation
import LoaderChain

/// Latency over time: the median, p90 and p99.
struct LatencyChart {
    private let slots: ClosedRange<Int64>
    private let tallies: [Int64: ReportModel.Tally]
    private let clock: ReportClock
    private let scale: ReportScale

    fileprivate static let width = 720.0
    private static let height = 190.0
    /// Where the time axis begins; the strip below has the same axis.
    fileprivate static let left = 64.0
    private static let top = 10.0
    private static let bottom = 166.0

    init(_ tallies: [Int64: ReportModel.Tally], in slots: ClosedRange<Int64>, clock: ReportClock) {
        self.slots = slots
        self.tallies = tallies
        self.clock = clock
        let largest = tallies.values.compactMap { Self.seconds($0, 0.99) }.max() ?? 0
        scale = ReportScale(upTo: largest)
    }

    /// A percentile in seconds.
    static func seconds(_ tally: ReportModel.Tally, _ part: Double) -> Double? {
        tally.latency.quantile(part).map { $0 / .seconds(1) }
    }

    /// The x coordinate of the middle of a slot.
    private static func x(_ slot: Int64, in slots: ClosedRange<Int64>) -> Double {
        let count = Double(slots.upperBound - slots.lowerBound + 1)
        return left + (Double(slot - slots.lowerBound) + 0.5) / count * (width - left)
    }

    private func y(_ seconds: Double) -> Double { Self.bottom - seconds / scale.end * (Self.bottom - Self.top) }

    var svg: String {
        var parts: [String] = []
        for mark in scale.marks {
            let y = HTMLText.place(y(mark))
            parts.append(
                "<line class=\"grid\" x1=\"\(Int(Self.left))\" x2=\"\(Int(Self.width))\" y1=\"\(y)\" y2=\"\(y)\"/>")
            let text = mark == 0 ? "0" : DurationText.setting(.seconds(1) * mark)
            parts.append("<text class=\"label end\" x=\"\(Int(Self.left) - 8)\" y=\"\(y)\" dy=\"4\">\(text)</text>")
        }
        parts += runs.flatMap(drawn) + labels
        return svgPicture(
            "chart", width: Self.width, height: Self.height, label: "Latency over time",
            more: " data-end=\"\(scale.end)\"", parts)
    }

    /// Runs of slots without a gap.
    private var runs: [[Int64]] {
        var runs: [[Int64]] = []
        for slot in tallies.keys.sorted() {
            if let last = runs.last?.last, slot == last + 1 {
                runs[runs.count - 1].append(slot)
            } else {
                runs.append([slot])
            }
        }
        return runs
    }

    private func drawn(_ run: [Int64]) -> [String] {
        let area = points(run, 0.9) + points(run, 0.5).reversed()
        var parts = ["<polygon class=\"band\" points=\"\(area.joined(separator: " "))\"/>"]
        for (name, part) in [("p99", 0.99), ("p90", 0.9), ("p50", 0.5)] {
            var line = points(run, part)
            // A line of one point would be invisible.
            if line.count == 1 { line.append(line[0]) }
            let style = run.count == 1 ? "\(name) alone" : name
            parts.append("<polyline class=\"\(style)\" points=\"\(line.joined(separator: " "))\"/>")
        }
        return parts
    }

    private func points(_ run: [Int64], _ part: Double) -> [String] {
        run.compactMap { slot in
            guard let tally = tallies[slot], let seconds = Self.seconds(tally, part) else { return nil }
            return HTMLText.place(Self.x(slot, in: slots)) + "," + HTMLText.place(y(seconds))
        }
    }

    private var labels: [String] {
        let (first, last) = (slots.lowerBound, slots.upperBound)
        return Set([first, first + (last - first) / 2, last]).sorted().map { slot in
            let (side, x) =
                switch slot {
                case first where first < last: ("start", Self.left)
                case last where first < last: ("end", Self.width)
                default: ("middle", Self.x(slot, in: slots))
                }
            return "<text class=\"label \(side)\" x=\"\(HTMLText.place(x))\" y=\"\(Int(Self.height) - 6)\">"
                + HTMLText.escape(clock.text(slot)) + "</text>"
        }
    }
}

/// Availability over time: one cell per slot.
struct AvailabilityStrip {
    let tallies: [Int64: ReportModel.Tally]
    let slots: ClosedRange<Int64>
    let clock: ReportClock

    private static let height = 26.0

    /// The CSS class of a cell.
    static func grade(_ tally: ReportModel.Tally) -> String {
        let (good, judged) = (tally.good, tally.judged)
        if judged == 0 { return "none" }
        if good == judged { return "good" }
        return Double(good) >= 0.9 * Double(judged) ? "fair" : good == 0 ? "down" : "poor"
    }

    var svg: String {
        let count = Double(slots.upperBound - slots.lowerBound + 1)
        let width = (LatencyChart.width - LatencyChart.left) / count
        var parts = ["<text class=\"label end\" x=\"\(Int(LatencyChart.left) - 8)\" y=\"17\">ok</text>"]
        for slot in tallies.keys.sorted() {
            guard let tally = tallies[slot] else { continue }
            let x = LatencyChart.left + Double(slot - slots.lowerBound) * width
            parts.append(
                "<rect class=\"cell \(Self.grade(tally))\" x=\"\(HTMLText.place(x))\" y=\"2\" "
                    + "width=\"\(HTMLText.place(max(1, width - min(1, width / 5))))\" height=\"22\" data-slot=\"\(slot)\">"
                    + "<title>\(HTMLText.escape(clock.text(slot))): \(tally.goodShare) of \(tally.judged) good</title></rect>"
            )
        }
        return svgPicture(
            "strip", width: LatencyChart.width, height: Self.height, label: "Availability over time", parts)
    }
}

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
            "<line class=\"grid\" x1=\"0\" x2=\"\(Int(Self.width))\" y1=\"\(Int(Self.bottom))\" y2=\"\(Int(Self.bottom))\"/>"
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
        return svgPicture(
            "histogram", width: Self.width, height: Self.height, label: "How the latencies are spread", parts)
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

/// An SVG picture with its parts on lines of their own; `more` is added to its tag.
private func svgPicture(
    _ name: String, width: Double, height: Double, label: String, more: String = "", _ parts: [String]
) -> String {
    let tag =
        "<svg class=\"\(name)\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" "
        + "aria-label=\"\(label)\"\(more)>"
    return ([tag] + parts + ["</svg>"]).joined(separator: "\n")
}

/// Labels for the time axis of a chart.
struct ReportClock: Sendable {
    /// The width of a slot in seconds.
    let width: Int64

    /// The beginning of a slot, in UTC.
    func text(_ slot: Int64) -> String {
        let (seconds, isOverflow) = slot.multipliedReportingOverflow(by: width)
        guard !isOverflow else { return "–" }
        let date = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        let parts = date.split(separator: "T")
        guard parts.count == 2 else { return date }
        let time = parts[1].dropLast()
        if width >= 86_400 { return String(parts[0]) }
        return width >= 60 ? "\(parts[0]) \(time.dropLast(3))" : String(time)
    }

    /// The width of a slot, in words.
    var words: String { DurationText.setting(.seconds(width)) }
}

/// A scale from zero to a round number.
struct ReportScale: Sendable {
    let end: Double
    let step: Double

    /// Makes a scale for values up to `largest`, with three to six steps.
    init(upTo largest: Double) {
        let largest = largest > 0 && largest.isFinite ? largest : 1
        var step = 1e-6
        let factors = [2.0, 2.5, 2.0]
        var index = 0
        while largest / step > 5 {
            step *= factors[index % factors.count]
            index += 1
        }
        self.step = step
        end = (largest / step).rounded(.up) * step
    }

    /// The values of its marks, including zero.
    var marks: [Double] { (0...Int((end / step).rounded())).map { Double($0) * step } }
}
