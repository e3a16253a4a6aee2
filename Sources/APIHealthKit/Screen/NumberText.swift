// Screen: text for people and terminals. Depends on no other folder; every other folder may use it.

import LoaderChain

enum NumberText {
    /// The value with a fixed number of decimals, or with the zeros at their end trimmed.
    static func text(_ value: Double, digits: Int, trimsZeros: Bool = false) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (abs(value) * scale).rounded()
        guard abs(value) < 1e15, scaled < 1e18 else { return "\(value)" }
        let (whole, part) = Int64(scaled).quotientAndRemainder(dividingBy: Int64(scale))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard digits > 0, part > 0 || !trimsZeros else { return "\(sign)\(whole)" }
        var decimals = String(part)
        decimals = String(repeating: "0", count: digits - decimals.count) + decimals
        while trimsZeros, decimals.last == "0" { decimals.removeLast() }
        return "\(sign)\(whole).\(decimals)"
    }

    /// The count with commas between the thousands.
    static func count(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    static func count(_ value: Int, _ noun: String) -> String { "\(count(value)) \(noun)\(value == 1 ? "" : "s")" }

    /// A share as a percentage, which is rounded to neither 0 nor 100 unless it is exactly that.
    static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "–" }
        if part >= whole { return "100 %" }
        if part <= 0 { return "0 %" }
        let ratio = Double(part) / Double(whole) * 100
        let rounded = min(max(ratio, 0.1), 99.9)
        return rounded >= 99 || rounded < 1 ? "\(text(rounded, digits: 1)) %" : "\(Int(min(rounded.rounded(), 99))) %"
    }
}

/// Reads and writes durations for people.
enum DurationText {
    private static let units: [(suffix: String, duration: Duration)] = [
        ("ms", .milliseconds(1)), ("min", .seconds(60)), ("s", .seconds(1)), ("m", .seconds(60)),
        ("h", .seconds(3_600)),
        ("d", .seconds(86_400)),
    ]

    /// Reads `500ms`, `5s`, `1.5s`, `2m`, `1h` or `1d`; a number alone is in seconds.
    static func parse(_ text: String) -> Duration? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        let number = text.dropLast(unit?.suffix.count ?? 0)
        // `Double` also reads signs, exponents and infinities, which make no sense here.
        guard !number.isEmpty, number.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }),
            let count = Double(number), count < 1e9
        else { return nil }
        return (unit?.duration ?? .seconds(1)) * count
    }

    /// The duration with two or three significant digits.
    static func short(_ duration: Duration, trimsZeros: Bool = false) -> String {
        let seconds = duration / .seconds(1)
        func text(_ value: Double, _ digits: Int) -> String {
            NumberText.text(value, digits: digits, trimsZeros: trimsZeros)
        }
        switch seconds {
        case ..<0.000_01: return "0 ms"
        case ..<0.009_95: return "\(text(seconds * 1_000, 1)) ms"
        case ..<0.999_5: return "\(Int((seconds * 1_000).rounded())) ms"
        case ..<9.995: return "\(text(seconds, 2)) s"
        case ..<59.95: return "\(text(seconds, 1)) s"
        default: return long(Int(seconds.rounded()))
        }
    }

    /// The duration without trailing zeros, for values that a user chose.
    static func setting(_ duration: Duration) -> String { short(duration, trimsZeros: true) }

    private static func long(_ seconds: Int) -> String {
        let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
        if minutes < 60 { return rest == 0 ? "\(minutes) min" : "\(minutes) min \(rest) s" }
        let (hours, left) = minutes.quotientAndRemainder(dividingBy: 60)
        if hours < 48 { return left == 0 ? "\(hours) h" : "\(hours) h \(left) min" }
        return "\(hours / 24) d \(hours % 24) h"
    }
}

extension LatencyHistogram {
    /// A quantile for people; a dash if nothing was counted.
    func quantileText(_ share: Double) -> String { quantile(share).map { DurationText.short($0) } ?? "–" }
}

/// Text that is safe to print on a terminal, whatever it came from.
enum Plain {
    /// The text with its control characters escaped.
    static func text(_ text: String) -> String { ASCII.printable(text) }

    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    static func padLeft(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// A line for each row, with the second cells below each other.
    static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.reduce(0) { max($0, $1.0.count) }
        return rows.map { "  " + pad($0.0, to: width + 2) + $0.1 }
    }

    /// The text, shortened in the middle if it is longer than `width`.
    static func fit(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(max(0, width))) }
        let tail = (width - 1) / 2
        return text.prefix(width - 1 - tail) + "…" + text.suffix(tail)
    }
}
