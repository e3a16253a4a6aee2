import LoaderChain

/// Latency over time: the median, p90 and p99.
struct LatencyChart {
    private let slots: ClosedRange<Int64>
    private let tallies: [Int64: ReportModel.Tally]
    private let clock: ReportClock
    private let scale: ReportScale

    static let width = 720.0
    private static let height = 190.0
    private static let left = 64.0
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
    static func x(_ slot: Int64, in slots: ClosedRange<Int64>) -> Double {
        let count = Double(slots.upperBound - slots.lowerBound + 1)
        return left + (Double(slot - slots.lowerBound) + 0.5) / count * (width - left)
    }

    private func y(_ seconds: Double) -> Double { Self.bottom - seconds / scale.end * (Self.bottom - Self.top) }

    var svg: String {
        var parts = [
            "<svg class=\"chart\" viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" "
                + "aria-label=\"Latency over time\" data-end=\"\(scale.end)\">"
        ]
        for mark in scale.marks {
            let y = HTMLText.place(y(mark))
            parts.append(
                "<line class=\"grid\" x1=\"\(Int(Self.left))\" x2=\"\(Int(Self.width))\" y1=\"\(y)\" y2=\"\(y)\"/>")
            let text = mark == 0 ? "0" : DurationText.setting(.seconds(1) * mark)
            parts.append("<text class=\"label end\" x=\"\(Int(Self.left) - 8)\" y=\"\(y)\" dy=\"4\">\(text)</text>")
        }
        parts += runs.flatMap(drawn) + labels
        return (parts + ["</svg>"]).joined(separator: "\n")
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
        let count = slots.upperBound - slots.lowerBound
        let shown =
            count == 0 ? [slots.lowerBound] : [slots.lowerBound, slots.lowerBound + count / 2, slots.upperBound]
        return shown.enumerated().map { index, slot in
            let side = shown.count == 1 || index == 1 ? "middle" : index == 0 ? "start" : "end"
            let x = index == 0 && shown.count > 1 ? Self.left : index == 2 ? Self.width : Self.x(slot, in: slots)
            return "<text class=\"label \(side)\" x=\"\(HTMLText.place(x))\" y=\"\(Int(Self.height) - 6)\">"
                + HTMLText.escape(clock.text(slot)) + "</text>"
        }
    }
}
