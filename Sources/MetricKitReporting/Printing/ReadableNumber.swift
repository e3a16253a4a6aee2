/// Numbers for people.
enum ReadableNumber {
    /// With at most two decimals.
    static func text(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "\(number)" }
        let hundredths = Int64((abs(number) * 100).rounded())
        let (whole, part) = hundredths.quotientAndRemainder(dividingBy: 100)
        let sign = number < 0 && hundredths > 0 ? "-" : ""
        guard part != 0 else { return "\(sign)\(whole)" }
        let (tenths, rest) = part.quotientAndRemainder(dividingBy: 10)
        return "\(sign)\(whole).\(tenths)\(rest == 0 ? "" : "\(rest)")"
    }

    /// In milliseconds below ten seconds, and in seconds, minutes or hours above.
    static func text(_ time: Duration) -> String {
        let seconds = time.histogramNumber
        switch abs(seconds) {
        case ..<10: return text(seconds * 1_000) + " ms"
        case ..<600: return text(seconds) + " s"
        case ..<36_000: return text(seconds / 60) + " min"
        default: return text(seconds / 3_600) + " h"
        }
    }

    /// In the largest unit that gives at least one.
    static func text(bytes: Double) -> String {
        switch abs(bytes) {
        case 1e9...: text(bytes / 1e9) + " GB"
        case 1e6...: text(bytes / 1e6) + " MB"
        case 1e3...: text(bytes / 1e3) + " kB"
        default: text(bytes) + " bytes"
        }
    }

    static func text(count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }
}
