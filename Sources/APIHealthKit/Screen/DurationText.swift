import LoaderChain

/// Durations as people write and read them.
package enum DurationText {
    private static let units: [(suffix: String, duration: Duration)] = [
        ("ms", .milliseconds(1)), ("min", .seconds(60)), ("s", .seconds(1)), ("m", .seconds(60)),
        ("h", .seconds(3_600)),
        ("d", .seconds(86_400)),
    ]

    /// Reads `500ms`, `5s`, `1.5s`, `2m`, `1h` or `1d`; a number alone is in seconds.
    package static func parse(_ text: String) -> Duration? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        let number = text.dropLast(unit?.suffix.count ?? 0)
        // No sign, no exponent and no infinity: nobody means those.
        guard !number.isEmpty, number.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }),
            let count = Double(number), count < 1e9
        else { return nil }
        return (unit?.duration ?? .seconds(1)) * count
    }

    /// A duration with as many digits as one can take in at a glance.
    package static func short(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        switch seconds {
        case ..<0.000_01: return "0 ms"
        case ..<0.009_95: return "\(Decimal.text(seconds * 1_000, digits: 1)) ms"
        case ..<0.999_5: return "\(Int((seconds * 1_000).rounded())) ms"
        case ..<9.995: return "\(Decimal.text(seconds, digits: 2)) s"
        case ..<59.95: return "\(Decimal.text(seconds, digits: 1)) s"
        default: return long(Int(seconds.rounded()))
        }
    }

    /// A duration that somebody chose, without digits that say nothing.
    package static func setting(_ duration: Duration) -> String {
        let parts = short(duration).split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].contains(".") else { return short(duration) }
        var number = parts[0]
        while number.last == "0" { number.removeLast() }
        if number.last == "." { number.removeLast() }
        return "\(number) \(parts[1])"
    }

    private static func long(_ seconds: Int) -> String {
        let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
        if minutes < 60 { return rest == 0 ? "\(minutes) min" : "\(minutes) min \(rest) s" }
        let (hours, left) = minutes.quotientAndRemainder(dividingBy: 60)
        if hours < 48 { return left == 0 ? "\(hours) h" : "\(hours) h \(left) min" }
        return "\(hours / 24) d \(hours % 24) h"
    }
}

/// Numbers with a fixed count of digits behind the point, and with their thousands apart.
package enum Decimal {
    /// Rounds to so many digits behind the point, and leaves zeros at the end out of none.
    package static func text(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (abs(value) * scale).rounded()
        guard scaled < 1e15 else { return "\(value)" }
        let (whole, part) = Int64(scaled).quotientAndRemainder(dividingBy: Int64(scale))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let digitsText = String(part)
        return "\(sign)\(whole)." + String(repeating: "0", count: digits - digitsText.count) + digitsText
    }

    /// A count with a comma between its thousands.
    package static func count(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// A part of a whole in per cent, which is 100 only if it is all and 0 only if it is nothing.
    package static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "–" }
        if part >= whole { return "100 %" }
        if part <= 0 { return "0 %" }
        let ratio = Double(part) / Double(whole) * 100
        let rounded = min(max(ratio, 0.1), 99.9)
        return rounded >= 99 || rounded < 1 ? "\(text(rounded, digits: 1)) %" : "\(Int(min(rounded.rounded(), 99))) %"
    }
}
