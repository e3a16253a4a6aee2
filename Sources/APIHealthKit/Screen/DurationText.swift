// Screen: text for people and terminals. Depends on no other folder; every other folder may use it.

import LoaderChain

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
    static func short(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        switch seconds {
        case ..<0.000_01: return "0 ms"
        case ..<0.009_95: return "\(NumberText.text(seconds * 1_000, digits: 1)) ms"
        case ..<0.999_5: return "\(Int((seconds * 1_000).rounded())) ms"
        case ..<9.995: return "\(NumberText.text(seconds, digits: 2)) s"
        case ..<59.95: return "\(NumberText.text(seconds, digits: 1)) s"
        default: return long(Int(seconds.rounded()))
        }
    }

    /// The duration without trailing zeros, for values that a user chose.
    static func setting(_ duration: Duration) -> String {
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
