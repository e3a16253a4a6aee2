import Foundation
import LoaderChain

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
