import Foundation
import LoaderChain

/// Times of the day as they stand below a picture.
struct ReportClock: Sendable {
    /// How many seconds a part of the time has.
    let width: Int64

    /// The beginning of a part of the time, in UTC.
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

    /// How long a part is, in words.
    var words: String { DurationText.setting(.seconds(width)) }
}

/// A scale from zero whose end is a round number.
struct ReportScale: Sendable {
    let end: Double
    let step: Double

    /// A scale for values up to `largest`, with three to six steps.
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

    /// The places of its marks, zero included.
    var marks: [Double] { (0...Int((end / step).rounded())).map { Double($0) * step } }
}
